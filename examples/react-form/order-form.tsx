import { createClient, type Submission } from "@formbridge/client";
import { FormBridgeForm } from "@formbridge/form";
import { type ReactElement, useEffect, useState } from "react";
import "@formbridge/form/form.css";

interface OrderFormProps {
  /** Where FormBridge is. */
  server: string;
  /** A hand-off that your back end made for the person who is signed in. */
  submissionId: string;
  session: string;
}

export function OrderForm({ server, submissionId, session }: OrderFormProps): ReactElement {
  const [submission, setSubmission] = useState<Submission | undefined>(undefined);
  const [message, setMessage] = useState("");
  useEffect(() => {
    const client = createClient({ url: server });
    client.openSession(submissionId, { session, carrier: "header" }).then(
      (opened) => setSubmission(opened.submission),
      (error: Error) => setMessage(error.message),
    );
  }, [server, submissionId, session]);
  return (
    <>
      {submission !== undefined && (
        <FormBridgeForm
          submission={submission}
          onSubmitted={({ submissionId }) => setMessage(`Thank you! Your reference is ${submissionId}.`)}
          onRefused={(fields) => setMessage(`${fields.length} answers need another look.`)}
          onError={(error) => setMessage(error.message)}
        />
      )}
      <p role="alert">{message}</p>
    </>
  );
}
