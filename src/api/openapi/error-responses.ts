import { Type } from 'typebox';
import type { Operation } from '../../component/operation.js';
import { QUOTA_HEADERS } from '../../http/quota-headers.js';

/** The body of every error (RFC 9457). */
export const problemSchema = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'Description of the error for people.' }),
    code: Type.String({ description: 'Stable error code for programs.', pattern: '^[a-z0-9_]+$' }),
    errors: Type.Optional(
      Type.Array(
        Type.Object(
          {
            field: Type.String({ description: 'A JSON Pointer into the body, or the name of a parameter.' }),
            message: Type.String(),
          },
          { title: 'FieldError' },
        ),
        { description: 'Broken rules; only with `validation_failed`.' },
      ),
    ),
  },
  { title: 'Problem' },
);

interface ErrorResponse {
  /** Its name among the components of `openapi.json`. */
  readonly name: string;
  readonly description: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const RETRY_AFTER = { 'Retry-After': 'Seconds to wait before the request may be sent again.' };

/** Every status that an error may have, with its codes. */
export const errorResponses: Readonly<Record<number, ErrorResponse>> = {
  400: {
    name: 'BadRequest',
    description:
      '`invalid_json`, `invalid_encoding`: the body is not JSON, not UTF-8, or broken gzip; or the path is broken.',
  },
  401: {
    name: 'Unauthenticated',
    description: '`unauthenticated`: the key is missing, malformed, unknown, expired or revoked.',
    headers: { 'WWW-Authenticate': 'Always `Bearer`.' },
  },
  403: {
    name: 'Forbidden',
    description:
      '`forbidden_scope`, `forbidden_role`: the key lacks the scope, or the member the role. `confirmation_needed`: a browser session must send an API key, too.',
  },
  404: { name: 'NotFound', description: '`not_found`: unknown, or owned by another user.' },
  408: { name: 'RequestTimeout', description: '`request_timeout`: the body did not arrive in time.' },
  409: {
    name: 'Conflict',
    description:
      '`conflict`: a unique name already exists, a limit is reached, the same task is already running, or the target is paused.',
  },
  412: {
    name: 'PreconditionFailed',
    description: '`precondition_failed`: the object is not as `If-Match` or `If-None-Match` says.',
  },
  413: {
    name: 'BodyTooLarge',
    description: '`body_too_large`: over the limit, before or after decompression.',
  },
  415: {
    name: 'UnsupportedMediaType',
    description: '`unsupported_media_type`: unsupported media type or content encoding.',
  },
  422: {
    name: 'ValidationFailed',
    description: '`validation_failed`: path, query or body breaks a rule; `errors` says which.',
  },
  429: {
    name: 'TooManyRequests',
    description:
      '`rate_limited`: the user exceeds a rate limit; `quota_exceeded`: the monthly limit would be exceeded; `storage_exceeded`: the storage limit is reached. Nothing was stored.',
    headers: { ...RETRY_AFTER, ...QUOTA_HEADERS },
  },
  431: {
    name: 'HeadersTooLarge',
    description: '`headers_too_large`: request line and headers are too large.',
  },
  500: {
    name: 'InternalError',
    description:
      '`internal_error`: an internal error; see the log. `store_damaged`: stored data for the request is damaged on disk; other data is still served.',
  },
  503: {
    name: 'Unavailable',
    description: '`overloaded`, `shutting_down`, `storage_unavailable`: nothing was stored, try again.',
    headers: RETRY_AFTER,
  },
};

/** The statuses of all errors that an operation may return, ascending. */
export function errorStatuses(operation: Operation): readonly number[] {
  const { access, params, query, body, errors = [] } = operation;
  const statuses = new Set([431, 500, 503, ...errors]);
  if (access !== 'public') statuses.add(401).add(429);
  if (access !== 'public' && access !== 'any') statuses.add(403);
  if (params || query || body) statuses.add(422);
  // Placeholders are percent-encoded UTF-8, which can be broken.
  if (params) statuses.add(400);
  if (body) for (const status of [400, 408, 413, 415]) statuses.add(status);
  return [...statuses].sort((a, b) => a - b);
}
