type Kind = "server" | "cluster" | "sentinel";

export interface RedisNode {
  host: string;
  port: number;
}

/** One Redis server, some servers of a cluster, or the sentinels that know which server is the primary. */
export interface RedisAddress {
  kind: Kind;
  tls: boolean;
  hosts: RedisNode[];
  /** The name under which the sentinels watch the primary. */
  primary?: string;
  username?: string;
  password?: string;
  database?: number;
}

export const REDIS_URLS =
  "redis://[<user>:<password>@]<host>[:<port>][/<database>], redis-cluster://…<host>,<host> or redis-sentinel://…<host>,<host>/<primary>[/<database>]";

const URL_PARTS = /^(rediss?)(?:-(cluster|sentinel))?:\/\/(?:(.*)@)?([^/?#@]+)(?:\/([^?#@]*))?$/;
const DEFAULT_PORTS = { server: 6379, cluster: 6379, sentinel: 26379 } as const satisfies Record<Kind, number>;
/** A cluster has only database 0. */
const PATHS = {
  server: /^(?<database>\d*)$/,
  cluster: /^0?$/,
  sentinel: /^(?<primary>[\w.-]+)(?:\/(?<database>\d*))?$/,
} as const satisfies Record<Kind, RegExp>;

/** `rediss` for TLS, `-cluster` for Redis Cluster, `-sentinel` for Redis Sentinel. Undefined if it is no such URL. */
export function parseRedisUrl(url: string): RedisAddress | undefined {
  const [, scheme = "", suffix, login, hosts = "", path = ""] = URL_PARTS.exec(url) ?? [];
  const kind = (suffix ?? "server") as Kind;
  const nodes = hosts.split(",").map((text) => parseHost(text, DEFAULT_PORTS[kind]));
  const known = nodes.filter((node) => node !== undefined);
  if (known.length !== nodes.length || (kind === "server" && known.length !== 1)) return undefined;
  const parts = PATHS[kind].exec(path);
  const credentials = parseLogin(login);
  if (parts === null || credentials === undefined) return undefined;
  const { primary, database = "" } = parts.groups ?? {};
  return {
    kind,
    tls: scheme === "rediss",
    hosts: known,
    ...(primary !== undefined && { primary }),
    ...credentials,
    ...(database !== "" && { database: Number(database) }),
  };
}

function parseHost(text: string, defaultPort: number): RedisNode | undefined {
  const [, bracketed, plain, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  return host === undefined ? undefined : { host, port: port === undefined ? defaultPort : Number(port) };
}

function parseLogin(login: string | undefined): Pick<RedisAddress, "username" | "password"> | undefined {
  if (login === undefined) return {};
  const [, user = "", password] = /^([^:]*)(?::(.*))?$/.exec(login) ?? [];
  try {
    return {
      ...(user !== "" && { username: decodeURIComponent(user) }),
      ...(password !== undefined && { password: decodeURIComponent(password) }),
    };
  } catch {
    return undefined;
  }
}
