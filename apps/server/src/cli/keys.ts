import { type CreateKeyRequest, ROLES, type Role } from "@formbridge/contract";
import { DEFAULT_TENANT } from "@formbridge/core";
import { Command, Option } from "commander";
import { fail, print } from "./print.ts";
import { withCore } from "./with-core.ts";

const tenant = () => new Option("--tenant <id>", "tenant of the key").default(DEFAULT_TENANT);

interface CreateOptions {
  name: string;
  role: Role[];
  actor: string;
  intake?: string[];
  actsFor?: string[];
  expires?: string;
  tenant: string;
}

function requestOf(options: CreateOptions): CreateKeyRequest {
  const [kind, ...rest] = options.actor.split(":");
  // Ids may contain colons themselves.
  const id = rest.join(":");
  if ((kind !== "agent" && kind !== "human") || id === "") {
    throw new Error("--actor takes agent:<id> or human:<id>");
  }
  if (options.expires !== undefined && Number.isNaN(Date.parse(options.expires))) {
    throw new Error("--expires takes an ISO 8601 moment, such as 2030-01-01T00:00:00Z");
  }
  return {
    name: options.name,
    roles: options.role,
    actor: { kind, id },
    ...(options.intake && { intakes: options.intake }),
    ...(options.actsFor && { actsFor: options.actsFor }),
    ...(options.expires !== undefined && { expiresAt: new Date(options.expires).toISOString() }),
  };
}

const createCommand = (): Command =>
  new Command("create")
    .description("Create an API key. It is printed only this once; the server stores only its hash.")
    .requiredOption("--name <text>", "what the key is for")
    .addOption(new Option("--role <role...>", "what it may do").choices([...ROLES]).makeOptionMandatory())
    .requiredOption("--actor <kind:id>", "who acts with it, such as agent:support_bot or human:ada")
    .option("--intake <id...>", "limit it to these intakes")
    .option("--acts-for <id...>", 'actor ids it may name; "*" for any')
    .option("--expires <moment>", "when it ends")
    .addOption(tenant())
    .addHelpText(
      "after",
      "\nExample:\n  formbridge keys create --name 'Support bot' --role agent --actor agent:support_bot",
    )
    .action(async (options: CreateOptions) => {
      await withCore(async ({ operations }) => {
        const { keyId, key } = await operations.issueKey(requestOf(options), options.tenant);
        print(`${keyId}\n${key}`);
      });
    });

const listCommand = (): Command =>
  new Command("list")
    .description("List active keys.")
    .addOption(tenant())
    .action(async (options: { tenant: string }) => {
      await withCore(async ({ backend }) => {
        for (const { keyId, name, roles, actor } of await backend.keys.list({ tenant: options.tenant }, 10_000)) {
          print(`${keyId}  ${roles.join(",")}  ${actor.kind}:${actor.id}  ${name}`);
        }
      });
    });

const revokeCommand = (): Command =>
  new Command("revoke")
    .description("Revoke a key, effective at once.")
    .argument("<keyId>")
    .addOption(tenant())
    .action(async (keyId: string, options: { tenant: string }) => {
      await withCore(async ({ backend }) => {
        if (await backend.keys.revoke({ tenant: options.tenant, keyId })) return print(`${keyId} is revoked`);
        fail(`there is no key ${keyId}`);
      });
    });

export const keysCommand = (): Command =>
  new Command("keys")
    .description("Create, list and revoke API keys.")
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand());
