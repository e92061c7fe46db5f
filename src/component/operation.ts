import type { TObject, TSchema } from 'typebox';
import type { AuditAction } from './audit-actions.js';
import type { Scope } from './identity.js';

/** The methods routes are declared for. `HEAD` and `OPTIONS` are answered by the listener itself. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * The requests and responses of a route, declared once: requests are checked by it, and `openapi.json` is printed from it. Errors that
 * follow from the rest are not listed: 401 and 403 from `access`, 422 from `params`, `query` and `body`, those of reading a body,
 * and 500 and 503, which every operation may give.
 */
export interface Operation {
  /** `listAgents`: unique on a listener. */
  readonly id: string;
  readonly method: Method;
  /** `/api/v1/agents/{agent_id}`, every placeholder a key of `params`. */
  readonly path: string;
  /** The group it is shown in: `agents`. */
  readonly tag: string;
  /** One line, no full stop. */
  readonly summary: string;
  readonly description?: string;
  /** The scope a key needs; `any` takes every valid key, `public` none. */
  readonly access: Scope | 'any' | 'public';
  /** Actions that it records in the audit, or why it records none. Routes of the API that are no `GET` must declare it. */
  readonly audit?: readonly AuditAction[] | { readonly none: string };
  readonly params?: TObject;
  /**
   * Parameters are single values: strings, numbers or booleans. An integer is truncated, a number clamped to its `minimum` and
   * `maximum`; neither is an error.
   */
  readonly query?: TObject;
  /** A JSON object. Unknown fields are refused if it has `additionalProperties: false`. */
  readonly body?: TObject;
  /** The body of each successful status; null if absent. */
  readonly responses: Readonly<Record<number, TSchema | null>>;
  /** The format of successful responses, if not JSON. */
  readonly mediaType?: string;
  /** Headers of its own that a request may have and a successful response has, with their descriptions. A `GET` with an `ETag` may answer 304. */
  readonly headers?: {
    readonly request?: Readonly<Record<string, string>>;
    readonly response?: Readonly<Record<string, string>>;
  };
  /** Statuses of errors particular to it, such as 404 and 409. */
  readonly errors?: readonly number[];
  /** For an operation of another protocol than the API's own; `errors` and derived properties do not apply then. */
  readonly protocol?: {
    /** Formats of requests and responses, in addition to JSON. */
    readonly mediaTypes: readonly string[];
    /** The body of its errors. */
    readonly errorBody: TObject;
    /** The meaning of each error status. */
    readonly errors: Readonly<Record<number, string>>;
  };
  /** Limit of the body before and after decompression, in bytes. Default 1 MiB. */
  readonly maxBodyBytes?: number;
  /** Time for the whole body to arrive, in milliseconds. Default 30 000. */
  readonly bodyTimeoutMs?: number;
}
