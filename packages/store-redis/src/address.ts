/** One Redis server, or some servers of a cluster through which the others are discovered. */
export interface RedisAddress {
  cluster: boolean;
  tls: boolean;
  hosts: { host: string; port: number }[];
  username?: string;
  password?: string;
  database?: number;
}

export const REDIS_URLS = "redis://[<user>:<password>@]<host>[:<port>][/<database>] or redis-cluster://…<host>,<host>";

const URL_PARTS = /^(redis|rediss|redis-cluster|rediss-cluster):\/\/(?:(.*)@)?([^/?#@]+)(?:\/(\d*))?$/;
const DEFAULT_PORT = 6379;

/** `rediss` for TLS, `redis-cluster` for Redis Cluster. Undefined if it is no such URL. */
export function parseRedisUrl(url: string): RedisAddress | undefined {
  const [, scheme = "", login, hosts = "", database = ""] = URL_PARTS.exec(url) ?? [];
  const cluster = scheme.endsWith("-cluster");
  const nodes = hosts.split(",").map(parseHost);
  const known = nodes.filter((node) => node !== undefined);
  if (known.length !== nodes.length || (!cluster && known.length !== 1)) return undefined;
  // A cluster has only database 0.
  if (cluster && database !== "" && database !== "0") return undefined;
  const credentials = parseLogin(login);
  if (credentials === undefined) return undefined;
  return {
    cluster,
    tls: scheme.startsWith("rediss"),
    hosts: known,
    ...credentials,
    ...(database !== "" && !cluster && { database: Number(database) }),
  };
}

function parseHost(text: string): { host: string; port: number } | undefined {
  const [, bracketed, plain, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  return host === undefined ? undefined : { host, port: port === undefined ? DEFAULT_PORT : Number(port) };
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
