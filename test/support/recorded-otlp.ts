import { readdirSync, readFileSync } from 'node:fs';

/** Recordings outside the repository. The path is relative to the root of the repository. */
const DATA = '../shared/data';

/** Runs of real agents as OTLP/JSON requests by the name of their file, as text; empty where the folder is absent. */
export function recordedOtlpTraces(): ReadonlyMap<string, string> {
  return recordedIn('otlp-traces');
}

/** The same of small programs, each written with another client. */
export function recordedPrograms(): ReadonlyMap<string, string> {
  return recordedIn('frameworks');
}

function recordedIn(folder: string): ReadonlyMap<string, string> {
  try {
    return new Map(
      readdirSync(`${DATA}/${folder}`)
        .filter((name) => /^[^.]+\.otlp\.json$/.test(name))
        .map((name) => [name, readFileSync(`${DATA}/${folder}/${name}`, 'utf8')]),
    );
  } catch {
    return new Map();
  }
}
