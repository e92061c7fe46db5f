import { remembering } from './remembering.js';

/** Size of each cache of hashes: scopes, models and providers. */
const MOST_REMEMBERED = 4096;

/**
 * Identifies a model call, to find calls reported by several instrumentations (`runs/rules/duplicate-calls.ts`). Stored as a short text:
 * hashes of reporter, model, provider and response id, separated by dots. Missing parts are empty.
 */
export interface CallKey {
  /** The reporter: its instrumentation scope. */
  readonly scope: string;
  readonly model: string;
  readonly provider: string;
  /** The provider's id of the response. */
  readonly response: string;
}

/** The call attributes of a span, as sent by the client. */
export interface CallAttributes {
  /** The name of the instrumentation scope; empty if absent. */
  readonly scope: string;
  readonly model: string | null;
  readonly provider: string | null;
  readonly response: string | null;
}

export function callKey({ scope, model, provider, response }: CallAttributes): string {
  return serializeCallKey({
    scope: hashedScope(scope),
    model: model === null ? '' : hashedModel(model),
    provider: provider === null ? '' : hashedProvider(provider),
    response: responseKey(response ?? ''),
  });
}

/** The `response` of a {@link CallKey}. @param id the provider's id of the response */
export function responseKey(id: string): string {
  return hashed(id.trim());
}

const hashedScope = remembering(MOST_REMEMBERED, hashed);
const hashedModel = remembering(MOST_REMEMBERED, (model) => hashed(modelFamily(model)));
const hashedProvider = remembering(MOST_REMEMBERED, (provider) => hashed(providerFamily(provider)));

/** Base of the hashes, which are integers of at most 53 bits. */
const RADIX = 36;

function serializeCallKey({ scope, model, provider, response }: CallKey): string {
  return `${scope}.${model}.${provider}.${response}`;
}

/** @param key from {@link callKey} */
export function readCallKey(key: string): CallKey {
  const [scope = '', model = '', provider = '', response = ''] = key.split('.');
  return { scope, model, provider, response };
}

/** Merges two keys of one span: the later one fills the gaps of the earlier one. */
export function filledCallKey(before: string | null, later: string | null): string | null {
  if (before === null || later === null || before === later) return before ?? later;
  const [known, rest] = [readCallKey(before), readCallKey(later)];
  return serializeCallKey({
    scope: known.scope,
    model: known.model || rest.model,
    provider: known.provider || rest.provider,
    response: known.response || rest.response,
  });
}

/**
 * The name of a model without the provider prefix and the date or version suffix that only some clients write. So the requested
 * `gpt-4o` equals `gpt-4o-2024-08-06` in the response.
 */
export function modelFamily(model: string): string {
  const name = model.trim().toLowerCase();
  return name
    .slice(name.lastIndexOf('/') + 1)
    .replace(SELLER, '')
    .replace(VERSION, '');
}

/** Prefix of Bedrock's names: `us.anthropic.claude-sonnet-4-20250514-v1:0`. */
const SELLER = /^(?:[a-z]{2,6}\.)?(?:ai21|amazon|anthropic|cohere|deepseek|meta|mistral|openai|qwen)\./;
const VERSION = /(?:-\d{4}-\d{2}-\d{2}|[-@](?:\d{8}|\d{4}|00\d|latest))?(?:-v\d+:\d+|:latest)?$/;

/** The provider of a model in normalized spelling; empty if the client names a framework instead. */
export function providerFamily(provider: string): string {
  const name = provider.trim().toLowerCase();
  if (FRAMEWORK.test(name)) return '';
  const family = FAMILIES.find(([spellings]) => spellings.test(name));
  return family?.[1] ?? /[a-z0-9]+/.exec(name)?.[0] ?? '';
}

const FRAMEWORK =
  /^(?:langchain|langgraph|llama_?-?index|haystack|crewai|litellm|autogen|semantic|dspy|agno|pydantic|strands|smolagents|vercel|gateway)/;
const FAMILIES: readonly (readonly [spellings: RegExp, family: string])[] = [
  [/azure|^az\./, 'azure'],
  [/bedrock|^aws|^amazon/, 'bedrock'],
  [/vertex|gemini|google|^gcp|^gen_?ai$/, 'google'],
  [/^mistral/, 'mistral'],
  [/^x[._-]?ai/, 'xai'],
  [/watson/, 'watsonx'],
];

/** A 53-bit hash (cyrb53) as short text. Collisions are not a security risk: calls of one run, and scores of one user, are compared. */
function hashed(text: string): string {
  if (text === '') return '';
  let one = 0xdeadbeef;
  let other = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    one = Math.imul(one ^ unit, 2_654_435_761);
    other = Math.imul(other ^ unit, 1_597_334_677);
  }
  one = Math.imul(one ^ (one >>> 16), 2_246_822_507) ^ Math.imul(other ^ (other >>> 13), 3_266_489_909);
  other = Math.imul(other ^ (other >>> 16), 2_246_822_507) ^ Math.imul(one ^ (one >>> 13), 3_266_489_909);
  return (4_294_967_296 * (2_097_151 & other) + (one >>> 0)).toString(RADIX);
}
