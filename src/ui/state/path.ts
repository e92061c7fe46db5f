import { BASE } from '../api/base.js';

/** The path of the page as the address has it: the router's own has lost what `%` stood for. */
export function rawPath(): string {
  return location.pathname.slice(BASE.pathname.length - 1);
}

/** The last part of the path as it was before it was encoded, which may hold `/` and `%`; one that cannot be read stays. */
export function lastPart(): string {
  const part = rawPath().split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The page of a session. */
export function sessionPath(id: string): string {
  return `/sessions/${encodeURIComponent(id)}`;
}

/** The page of a prompt. */
export function promptPath(name: string): string {
  return `/prompts/${encodeURIComponent(name)}`;
}

/** The runs with calls of a model; all runs where calls name none. */
export function runsOfModel(model: string | null): string {
  return model === null || model === '' ? '/runs' : `/runs?model=${encodeURIComponent(model)}&kind=all`;
}
