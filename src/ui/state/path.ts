import { BASE } from '../api/base.js';

/** The path as in the address; the router's path is already decoded. */
export function rawPath(): string {
  return location.pathname.slice(BASE.pathname.length - 1);
}

/** The last path segment, decoded; it may contain `/` and `%`. Invalid encoding is kept. */
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

/** Runs with calls of a model; all runs for calls without a model. */
export function runsOfModel(model: string | null): string {
  return model === null || model === '' ? '/runs' : `/runs?model=${encodeURIComponent(model)}&kind=all`;
}

/** Runs with calls of a tool. */
export function runsOfTool(tool: string): string {
  return `/runs?span=${encodeURIComponent(tool)}&type=tool&kind=all`;
}
