/** The form of an API key: such a text never belongs into a log, wherever it came from. */
const API_KEY = /\bjd_[A-Za-z0-9_-]{43}/g;
const REDACTED = '[redacted]';
/** Shorter texts occur by chance: replacing them would make lines unreadable and point at the secret. */
const MIN_LENGTH = 6;

/** @returns a function that takes the given secrets, and whatever looks like an API key, out of a line of a log. */
export function redactor(secrets: readonly string[]): (line: string) => string {
  const texts = secrets
    .filter((secret) => secret.length >= MIN_LENGTH)
    // In a line of JSON a quote or a backslash inside a secret is escaped.
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
    .sort((a, b) => b.length - a.length);
  return (line) => {
    let clean = line.includes('jd_') ? line.replace(API_KEY, REDACTED) : line;
    for (const text of texts) if (clean.includes(text)) clean = clean.replaceAll(text, REDACTED);
    return clean;
  };
}
