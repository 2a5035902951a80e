import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { OrderForm } from "./order-form.tsx";

const place = document.getElementById("root");
if (place !== null) {
  const { server = "", submission = "", session = "" } = place.dataset;
  createRoot(place).render(
    <StrictMode>
      <OrderForm server={server} submissionId={submission} session={session} />
    </StrictMode>,
  );
}
