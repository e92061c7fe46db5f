import { createHash } from 'node:crypto';
import type { AnswerCoding } from './compression.js';

const CHARACTERS = 22;
/** The compressed forms of bodies with a tag, keyed by the bytes object itself: they go when the body goes. */
const packed = new WeakMap<Uint8Array, Map<string, Promise<Uint8Array>>>();

/** A strong entity tag (RFC 9110 section 8.8.3): as long as it is the same, so are the bytes. */
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

/** A body that has a tag is the same each time: each coding compresses it once. */
export function packOnce(coding: AnswerCoding, body: Uint8Array): Promise<Uint8Array> {
  const forms = packed.get(body) ?? new Map<string, Promise<Uint8Array>>();
  packed.set(body, forms);
  let form = forms.get(coding.name);
  if (form === undefined) forms.set(coding.name, (form = coding.pack(body)));
  return form;
}

/** A strong tag promises the same bytes, which a compressed answer does not have. */
export function weakTag(tag: string): string {
  return tag.startsWith('W/') ? tag : `W/${tag}`;
}

function withoutWeakness(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}
