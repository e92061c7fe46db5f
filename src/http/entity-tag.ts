import { createHash } from 'node:crypto';
import type { AnswerCoding } from './compression.js';

const CHARACTERS = 22;

/** Headers of an operation whose response has an entity tag; the listener answers 304. */
export const REVALIDATION = {
  request: { 'If-None-Match': 'An earlier `ETag`, or several: the response is 304 if one of them matches.' },
  response: { ETag: 'Changes with the response.' },
};

/** Headers of an operation that changes an object only in the state that the client knows; else it answers 412. */
export const PRECONDITION = {
  'If-Match':
    'The `ETag` of the object, or `*`: the response is 412 if the object changed since, or does not exist.',
};
export const CREATION_PRECONDITION = {
  'If-None-Match': 'Only `*`: the response is 412 if the object exists.',
};

/** The compressed forms of bodies with a tag, keyed by the bytes object, so that they are released with the body. */
const packed = new WeakMap<Uint8Array, Map<string, Promise<Uint8Array>>>();

/** A strong entity tag (RFC 9110 section 8.8.3): equal tags mean equal bytes. */
export function entityTag(body: Uint8Array): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, CHARACTERS)}"`;
}

/** Whether an `If-None-Match` header matches the tag of the response in any coding (weak comparison). */
export function isKnownToClient(header: string | undefined, tag: string | undefined): boolean {
  if (header === undefined || tag === undefined) return false;
  if (header.trim() === '*') return true;
  const wanted = withoutWeakness(tag);
  return header.split(',').some((known) => withoutWeakness(known.trim()) === wanted);
}

/** Compresses a body with a tag once for each coding, because it never changes. */
export function packOnce(coding: AnswerCoding, body: Uint8Array): Promise<Uint8Array> {
  const forms = packed.get(body) ?? new Map<string, Promise<Uint8Array>>();
  packed.set(body, forms);
  let form = forms.get(coding.name);
  if (form === undefined) forms.set(coding.name, (form = coding.pack(body)));
  return form;
}

/** The tag of a compressed response: a strong tag would promise the uncompressed bytes. */
export function weakTag(tag: string): string {
  return tag.startsWith('W/') ? tag : `W/${tag}`;
}

function withoutWeakness(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}
