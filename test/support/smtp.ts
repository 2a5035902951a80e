import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { findProgram } from "./services/programs.ts";

/** A mail as received. */
export interface Received {
  from: string;
  to: string[];
  /** Headers and body. */
  raw: string;
  secure: boolean;
  user?: string;
}

export interface SmtpHost {
  port: number;
  received: Received[];
  close(): Promise<void>;
}

/** A real mail server on loopback, which keeps what it receives. By default without login and TLS. */
export async function startSmtp(options: SMTPServerOptions = {}, address = "127.0.0.1"): Promise<SmtpHost> {
  const received: Received[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    closeTimeout: 100,
    onData(stream, session, done) {
      const parts: Buffer[] = [];
      stream.on("data", (part: Buffer) => parts.push(part));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(parts).toString("utf8"),
          secure: session.secure,
          ...(typeof session.user === "string" && { user: session.user }),
        });
        done();
      });
    },
    ...options,
  });
  // Ignore clients that disconnect.
  server.on("error", () => {});
  await new Promise<void>((resolve) => {
    server.listen(0, address, () => resolve());
  });
  return {
    port: (server.server.address() as AddressInfo).port,
    received,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** A self-signed key and certificate for localhost. */
export function selfSigned(): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), "formbridge-cert-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  try {
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
    const shape = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    execFileSync(findProgram("openssl", "openssl"), ["req", ...shape, ...subject, "-keyout", key, "-out", cert], {
      stdio: "pipe",
    });
    return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The decoded parts of a message, as far as nodemailer's output needs. */
export function partsOf(raw: string): { headers: string; text: string; html: string } {
  const [headers = ""] = raw.split("\r\n\r\n");
  const boundary = /boundary="([^"]+)"/.exec(raw)?.[1] ?? "";
  const sections = raw.split(`--${boundary}`).slice(1, -1);
  const bodyOf = (type: string): string => {
    const section = sections.find((one) => one.includes(`Content-Type: ${type}`)) ?? "";
    const [head = "", ...rest] = section.split("\r\n\r\n");
    const body = rest.join("\r\n\r\n");
    if (head.includes("base64")) return Buffer.from(body, "base64").toString("utf8");
    return Buffer.from(
      body
        .replaceAll(/=\r\n/g, "")
        .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
      "latin1",
    ).toString("utf8");
  };
  return { headers: headers.replaceAll(/\r\n[ \t]+/g, " "), text: bodyOf("text/plain"), html: bodyOf("text/html") };
}
