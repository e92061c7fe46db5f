import type { Metadata } from '@grpc/grpc-js';

type AnyHeaders = Headers | Metadata | Readonly<Record<string, string | string[] | undefined>>;

/** The quota in HTTP or gRPC response headers; empty without quota headers. */
export function quotaOf(answer: { readonly headers: AnyHeaders | undefined } | undefined): {
  readonly limit?: string;
  readonly remaining?: string;
  readonly reset?: string;
} {
  const found = ['limit', 'remaining', 'reset'].flatMap((name) => {
    const value = read(answer?.headers, `x-quota-${name}`);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(found);
}

function read(headers: AnyHeaders | undefined, name: string): string | undefined {
  if (headers === undefined) return undefined;
  const value = isReadable(headers) ? headers.get(name) : headers[name];
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' ? first : undefined;
}

function isReadable(headers: AnyHeaders): headers is Headers | Metadata {
  return 'get' in headers && typeof headers.get === 'function';
}
