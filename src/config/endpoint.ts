/** `host:port`: a name, an IPv4 address, an IPv6 address in brackets, or nothing (every address), then the port. */
export const ENDPOINT_PATTERN = '^(\\[[0-9a-fA-F:.]{2,45}\\]|[^\\s:/\\[\\]@?#]{0,253}):([0-9]{1,5})$';

/** Patterns of a `Host` header: a name, `*.` and a name, an IPv4 address or an IPv6 address in brackets; then an optional port. */
export const HOST_PATTERN =
  '^(\\[[0-9a-fA-F:.]{2,45}\\]|(\\*\\.)?[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*)(:[0-9]{1,5})?$';

const ENDPOINT = new RegExp(ENDPOINT_PATTERN);
const MAX_PORT = 65_535;

/** Address of a listener. */
export interface Endpoint {
  /** A name or an address, IPv6 without brackets; empty for every address. */
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
}

/** @returns the parts of `127.0.0.1:4319` or `[::1]:4319`, or undefined if the text is no endpoint. */
export function parseEndpoint(text: string): Endpoint | undefined {
  const found = ENDPOINT.exec(text);
  if (found?.[1] === undefined) return undefined;
  const port = Number(found[2]);
  if (port > MAX_PORT) return undefined;
  return { host: found[1].replace(/^\[|\]$/g, ''), port };
}

/** Whether only this machine can reach it. A name other than `localhost` counts as reachable from outside. */
export function isLoopback(endpoint: Endpoint): boolean {
  const host = endpoint.host.toLowerCase();
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
