import { haveSigns } from './signs-of-keys.js';
import { allMatches, isWordAt, whole, type Finder, type Match } from './finder.js';

/** Keys that tell by their beginning whose they are. */
const KNOWN = [
  // OpenAI, Anthropic, Stripe, and who does as they do
  'sk-(?:ant-|proj-|svcacct-|admin-|or-v1-|lf-)?[A-Za-z0-9_-]{20,}',
  'pk-lf-[0-9a-f-]{36}',
  '[spr]k_(?:live|test)_[A-Za-z0-9]{10,}',
  'whsec_[A-Za-z0-9+/=]{20,}',
  // Amazon, Google
  '(?:AKIA|ASIA|AROA|AIDA)[A-Z2-7]{16}',
  'AIza[0-9A-Za-z_-]{35}',
  'ya29\\.[0-9A-Za-z_-]{20,}',
  'GOCSPX-[0-9A-Za-z_-]{28}',
  // GitHub, GitLab
  'gh[pousr]_[A-Za-z0-9]{36,}',
  'github_pat_[A-Za-z0-9_]{22,}',
  'gl(?:pat|dt|rt|cbt)-[A-Za-z0-9_-]{20,}',
  // Slack, SendGrid, Twilio, Mailgun
  'xox[abeoprs]-[A-Za-z0-9-]{10,}',
  'xapp-\\d-[A-Za-z0-9-]{10,}',
  'SG\\.[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}',
  'SK[0-9a-f]{32}',
  'key-[0-9a-f]{32}',
  // Registries and hosts
  'npm_[A-Za-z0-9]{36}',
  'pypi-AgEI[A-Za-z0-9_-]{50,}',
  'hf_[A-Za-z]{30,}',
  'dop_v1_[0-9a-f]{64}',
  'shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}',
  'r8_[A-Za-z0-9]{37}',
  'gsk_[A-Za-z0-9]{40,}',
  'xai-[A-Za-z0-9]{40,}',
  'pplx-[A-Za-z0-9]{40,}',
  'lin_api_[A-Za-z0-9]{32,}',
  'ntn_[A-Za-z0-9]{40,}',
  'secret_[A-Za-z0-9]{43}',
  // Others, in no order: Figma, Grafana, PostHog, Docker, Sentry, Tailscale, Vault, New Relic, HubSpot, Pinecone, Cerebras,
  // LangSmith, Supabase, Square, Render, Fireworks, Mapbox, age
  'figd_[A-Za-z0-9_-]{40,}',
  'glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}',
  'ph[cx]_[A-Za-z0-9]{40,}',
  'dckr_pat_[A-Za-z0-9_-]{27}',
  'sntry[su]_[A-Za-z0-9+/=_]{50,}',
  'tskey-(?:auth|api|client)-[A-Za-z0-9]{6,}(?:-[A-Za-z0-9]{16,})?',
  'hv[sb]\\.[A-Za-z0-9_-]{24,}',
  'NRAK-[A-Z0-9]{27}',
  'pat-(?:na|eu)\\d-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}',
  'pcsk_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{50,}',
  'csk-[A-Za-z0-9]{40,}',
  'lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}',
  'sbp_[0-9a-f]{40}',
  'sq0(?:csp|atp)-[A-Za-z0-9_-]{22,}',
  'rnd_[A-Za-z0-9]{28,}',
  'fw_[A-Za-z0-9]{20,}',
  '[sp]k\\.eyJ[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{20,}',
  'AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}',
  // Jackdaw
  'jd_[A-Za-z0-9_-]{43}',
];
const PREFIXED = new RegExp(KNOWN.join('|'), 'g');
/** `Authorization: Bearer …` and the like. */
const BEARER = /\b(?:bearer|token) +([A-Za-z0-9._~+/=-]{16,})/gi;
/** A name and a password, in base64. */
const BASIC = /\bbasic +([A-Za-z0-9+/]{8,}={0,2})/gi;
/** `api_key=…`, `"client_secret": "…"`. */
const ASSIGNED =
  /(?:api[_-]?key|apikey|account[_-]?key|access[_-]?key|secret[_-]?key|client[_-]?secret|auth[_-]?token|access[_-]?token|refresh[_-]?token|private[_-]?key|secret|passwd|password|pwd)\\?["']?\s{0,3}(?:[:=]|=>)\s{0,3}\\?["']?([^\s"'\\,;&<>(){}[\]]{8,512})/gi;
/** `postgres://user:password@host`. */
const IN_URL = /:\/\/[^\s/?#@:"'\\]{0,128}:([^\s/?#@"'\\,;<>()]{3,256})@/g;
/** Who has it may write into a channel of Slack. */
const SLACK_HOOK = /hooks\.slack\.com\/(?:services|workflows|triggers)\/([A-Za-z0-9/]{20,200})/g;
/** What stands for a password in texts about such addresses. */
const PLACEHOLDER = /^(?:[$%<{*[]|x+$|\.{3}|pass(?:word|wd)?$|pwd$|secret$)/i;
/** With the key in it, or as much of it as there is. */
const PRIVATE_KEY =
  /-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----(?:[A-Za-z0-9+/=\s\\:,]|-(?!-)){0,16384}(?:-----END [A-Z ]{0,20}PRIVATE KEY-----)?/g;

/** Keys, tokens and passwords that are told by their form, or by the name before them. */
export const apiKey: Finder = {
  name: 'api_key',
  replacement: '[api_key]',
  hints: [{ test: haveSigns }, /:\/\/[^\s/?#@:"']{0,128}:[^\s/?#@"']{3}/],
  find: (text) => [
    ...allMatches(text, PREFIXED, (found) => (isOwnWord(text, found) ? whole(found) : undefined)),
    ...(text.includes('PRIVATE KEY') ? allMatches(text, PRIVATE_KEY, whole) : []),
    ...allMatches(text, BEARER, (found) => valueOf(found, found[1] ?? '', 16)),
    ...allMatches(text, BASIC, (found) => credentialsOf(found, found[1] ?? '')),
    ...allMatches(text, IN_URL, (found) => passwordIn(found, found[1] ?? '')),
    ...allMatches(text, SLACK_HOOK, (found) => lastOf(found, found[1] ?? '')),
    ...allMatches(text, ASSIGNED, (found) => valueOf(found, found[1] ?? '', 8)),
  ],
};

/** Not a part of a word, such as `task-…`, nor a word that begins so, such as `sk-learn-…`. */
function isOwnWord(text: string, { index, 0: key }: RegExpExecArray): boolean {
  return (
    !isWordAt(text, index - 1) &&
    (!key.startsWith('sk-') || (/\d/.test(key) && /[A-Za-z]/.test(key.slice(3))))
  );
}

function credentialsOf(found: RegExpExecArray, value: string): Match | undefined {
  const end = found.index + found[0].length;
  const isPair = /^[\x20-\x7e]*:[\x20-\x7e]+$/.test(Buffer.from(value, 'base64').toString('latin1'));
  return isPair ? { start: end - value.length, end } : undefined;
}

function passwordIn(found: RegExpExecArray, password: string): Match | undefined {
  if (PLACEHOLDER.test(password)) return undefined;
  const end = found.index + found[0].length - 1;
  return { start: end - password.length, end };
}

function lastOf(found: RegExpExecArray, value: string): Match {
  const end = found.index + found[0].length;
  return { start: end - value.length, end };
}

/** The value at the end of what was found, where it can be a secret and not a word that speaks of one. */
function valueOf(found: RegExpExecArray, value: string, shortest: number): Match | undefined {
  const end = found.index + found[0].length;
  const trimmed = value.replace(/[.]+$/, '');
  if (trimmed.length < shortest || !/\d/.test(trimmed) || !/[A-Za-z]/.test(trimmed)) return undefined;
  // The name of a variable that has it, or of where it lies.
  if (/^(?:\$|%|process\.|os\.|env[.:]|https?:|file:|\.{0,2}\/)/i.test(trimmed)) return undefined;
  return { start: end - value.length, end: end - value.length + trimmed.length };
}
