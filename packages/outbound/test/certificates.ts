import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Certificate {
  cert: string;
  key: string;
}

/** A self-signed certificate for the name. */
export function makeCertificate(name: string): Certificate {
  const folder = mkdtempSync(join(tmpdir(), "formbridge-certificate-"));
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const names = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`];
  try {
    execFileSync("openssl", ["req", ...kind, ...names, "-keyout", key, "-out", cert], { stdio: "pipe" });
    return { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
