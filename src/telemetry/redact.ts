import { maskUrls } from '../component/url-secrets.js';

/** The forms of API keys and webhook secrets: such texts never belong in a log. */
const FORMS = [
  { start: 'jd_', form: /\bjd_[A-Za-z0-9_-]{43}/g },
  { start: 'whsec_', form: /\bwhsec_[A-Za-z0-9+/]{43}=/g },
];
const REDACTED = '[redacted]';
/** Shorter texts occur by chance: replacing them would make lines unreadable and point at the secret. */
const MIN_LENGTH = 6;

/** @returns a function that takes the given secrets, what looks like a key of ours, and secrets of URLs out of a line of a log. */
export function redactor(secrets: readonly string[]): (line: string) => string {
  const texts = secrets
    .filter((secret) => secret.length >= MIN_LENGTH)
    // In a line of JSON a quote or a backslash inside a secret is escaped.
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
    .sort((a, b) => b.length - a.length);
  return (line) => {
    let clean = maskUrls(line);
    for (const { start, form } of FORMS) if (clean.includes(start)) clean = clean.replace(form, REDACTED);
    for (const text of texts) if (clean.includes(text)) clean = clean.replaceAll(text, REDACTED);
    return clean;
  };
}
