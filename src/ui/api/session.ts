import { BASE } from './base.js';
import { ApiError, retryAfterOf, type Schemas } from './client.js';

/** What one logs in with: a key, or the token of a link that the daemon printed. */
export type Proof = { readonly key: string } | { readonly token: string };

/** Begins a session: its cookie comes with the answer. @throws ApiError where the proof is refused */
export async function logIn(proof: Proof): Promise<void> {
  await send('POST', proof);
}

/** Whom a link would log in; it can still be used. @throws ApiError where it cannot be used any more */
export async function readLink(token: string): Promise<Schemas['SessionLinkOwner']> {
  const response = await send('POST', { token }, '/links/read');
  return (await response.json()) as Schemas['SessionLinkOwner'];
}

/** Ends it, here and in the daemon. @throws ApiError */
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
