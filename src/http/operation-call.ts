import type { Static, TObject, TSchema } from 'typebox';
import type { Operation } from '../component/operation.js';

type Sent<Schema> = Schema extends TObject ? Partial<Static<Schema>> : undefined;

/** The input of an operation, for its callers. */
export interface OperationCall<O extends Operation> {
  readonly params?: Sent<O['params']>;
  readonly query?: Sent<O['query']>;
  readonly body?: Sent<O['body']>;
}

/** The body of a successful response; undefined for a status without one. */
export type OperationAnswer<O extends Operation> = {
  [Status in keyof O['responses']]: O['responses'][Status] extends TSchema
    ? Static<O['responses'][Status]>
    : undefined;
}[keyof O['responses']];

/** Calls operations of the API: over HTTP, or in its process. */
export interface OperationCaller {
  call<O extends Operation>(operation: O, call?: OperationCall<O>): Promise<OperationAnswer<O>>;
}

/** Fills the placeholders of an operation's path. */
export function fillPath(path: string, params: Readonly<Record<string, unknown>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
}

type Value = string | number | boolean;

/**
 * The query parameters of a call. Undefined values are left out, and a list becomes a parameter for each item. The entries of an
 * object (`attribute.KEY`) become one parameter each, named as the part before `KEY` and the entry's key.
 */
export function queryOf(query: object): URLSearchParams {
  const params = new URLSearchParams();
  const values = Object.entries(query) as [
    string,
    Value | readonly Value[] | Record<string, Value> | undefined,
  ][];
  for (const [name, value] of values) {
    if (value === undefined) continue;
    if (Array.isArray(value)) for (const item of value) params.append(name, String(item));
    else if (typeof value === 'object')
      for (const [key, entry] of Object.entries(value))
        params.append(`${name.replace(/KEY$/, '')}${key}`, String(entry));
    else params.append(name, String(value));
  }
  return params;
}
