/** Whether a name matches. */
export type NameTest = (name: string) => boolean;

/**
 * The patterns of a price table: `*` matches any characters, including none; case is ignored. A pattern without `/` is compared with
 * the part after the last `/` of a name, so `gpt-5` also matches `openai/gpt-5`; a pattern with `/` is compared with the whole name.
 * Matching time is linear in the name, since senders choose names.
 */
export function namePattern(pattern: string): NameTest {
  const parts = pattern.toLowerCase().split('*');
  const isWhole = pattern.includes('/');
  return (name) => {
    const lower = name.toLowerCase();
    return fits(isWhole ? lower : lower.slice(lower.lastIndexOf('/') + 1), parts);
  };
}

/**
 * Like {@link namePattern}, for names of models. A name also matches as the model's own: without seller (`openai:`, `openrouter/`),
 * variant (`:online`) and everything from an `@`.
 */
export function modelPattern(pattern: string): NameTest {
  const fits = namePattern(pattern);
  return (name) => {
    if (fits(name)) return true;
    const own = ownName(name);
    return own !== name && fits(own);
  };
}

/** Variants of OpenRouter with the price of the model. */
const VARIANTS: ReadonlySet<string> = new Set(['online', 'nitro', 'floor', 'exacto', 'thinking']);
const ROUTER = 'openrouter/';
/** Fine-tuned models have separate prices. */
const TUNED = 'ft:';

function ownName(name: string): string {
  // Names of Cloudflare and Portkey begin with it.
  const at = name.indexOf('@', 1);
  let own = at < 0 ? name : name.slice(0, at);
  const variant = own.lastIndexOf(':');
  if (variant > 0 && VARIANTS.has(own.slice(variant + 1).toLowerCase())) own = own.slice(0, variant);
  if (!own.toLowerCase().startsWith(TUNED)) own = own.slice(own.indexOf(':') + 1);
  return own.toLowerCase().startsWith(ROUTER) ? own.slice(ROUTER.length) : own;
}

/** @param parts must occur in the text one after the other; the first at its start, the last at its end */
function fits(text: string, parts: readonly string[]): boolean {
  const [first = '', ...rest] = parts;
  const last = rest.pop();
  if (last === undefined) return text === first;
  const end = text.length - last.length;
  if (!text.startsWith(first) || end < first.length || !text.endsWith(last)) return false;
  let at = first.length;
  // The earliest place of each part leaves the most room for the next.
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
