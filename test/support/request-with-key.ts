import type { HttpRequest } from '../../src/component/http.js';

/** The part of a request that identifies its sender. */
export function withKey(key: string | undefined): Pick<HttpRequest, 'header'> {
  return withAuthorization(key === undefined ? undefined : `Bearer ${key}`);
}

export function withAuthorization(value: string | undefined): Pick<HttpRequest, 'header'> {
  return { header: (name) => (name === 'authorization' ? value : undefined) };
}
