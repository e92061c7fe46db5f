import { BASE } from './base.js';
import { ApiError, retryAfterOf, type Schemas } from './client.js';

/** Credentials of a login: a key, or the token of a login link. */
export type Proof = { readonly key: string } | { readonly token: string };

/** Starts a session; the response sets its cookie. @throws ApiError if the credentials are refused */
export async function logIn(proof: Proof): Promise<void> {
  await send('POST', proof);
}

/**
 * The user that a login link logs in, without using up the link.
 *
 * @throws ApiError if the link is no longer valid
 */
export async function readLink(token: string): Promise<Schemas['SessionLinkOwner']> {
  const response = await send('POST', { token }, '/links/read');
  return (await response.json()) as Schemas['SessionLinkOwner'];
}

/** Ends the session, here and in the daemon. @throws ApiError */
export async function logOut(): Promise<void> {
  await send('DELETE');
}

async function send(method: string, body?: object, path = ''): Promise<Response> {
  const response = await fetch(new URL(`api/v1/session${path}`, BASE), {
    method,
    headers: { 'X-Jackdaw': '1', ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (response.ok) return response;
  const { detail } = (await response.json().catch(() => ({}))) as { readonly detail?: string };
  throw new ApiError(
    response.status,
    detail ?? `Request failed with status ${String(response.status)}.`,
    retryAfterOf(response),
  );
}
