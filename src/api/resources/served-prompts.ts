import { Type } from 'typebox';
import { HttpProblem, type Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { entityTag, REVALIDATION } from '../../http/entity-tag.js';
import { validationProblem } from '../../http/field-errors.js';
import { formatTime } from '../../signal/time.js';
import { LATEST, type FoundPrompt } from '../../storage/contracts/prompt-labels.js';
import { PROMPT_TYPES } from '../../storage/contracts/prompts.js';
import type { ApiContext } from '../support/api-context.js';
import { nullable, time, uuid } from '../support/fields.js';
import { notFound } from '../support/not-found.js';
import { messagesOf, messagesSchema, variablesOf, variablesSchema } from '../support/prompt-template.js';
import { labelName } from './prompt-labels.js';
import { promptParams, promptVersion } from './prompts.js';

/** The label that is read without a parameter. */
const DEFAULT_LABEL = 'production';
const MAX_SESSION_LENGTH = 1024;
/** Maximum number of labels in an error. */
const NAMED_LABELS = 20;

/** A label can move at any time; a version never changes, but can be deleted. */
const CACHING = {
  label: 'private, max-age=30, stale-while-revalidate=600, stale-if-error=86400',
  version: 'private, max-age=3600, stale-while-revalidate=86400, stale-if-error=86400',
};

const readPrompt = {
  id: 'readPrompt',
  method: 'GET',
  path: '/api/v1/prompts/{name}',
  tag: 'prompts',
  summary: 'Read the version of a prompt that a program should use',
  description: [
    `By \`label\` or \`version\`; without both, the label \`${DEFAULT_LABEL}\`. \`${LATEST}\` is always the newest version. If the prompt lacks the label or version, the 404 lists the labels that it has.`,
    'A label with weights always serves the same version to a session while the weights are unchanged; without `session_id`, it serves the version with the largest weight.',
    '`Cache-Control` allows clients to use it while they load it again in the background.',
  ].join(' '),
  access: 'read',
  headers: REVALIDATION,
  params: promptParams,
  query: Type.Object({
    label: Type.Optional(labelName(`Default: \`${DEFAULT_LABEL}\`.`)),
    version: Type.Optional(Type.Integer({ ...promptVersion, description: 'Not together with `label`.' })),
    session_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_SESSION_LENGTH,
        description: 'Session of the caller, which selects a version of a label with weights.',
      }),
    ),
  }),
  responses: {
    200: Type.Object(
      {
        id: uuid('Id of the version.'),
        name: Type.String(),
        version: Type.Integer({ minimum: 0 }),
        label: nullable(Type.String({ description: 'The label that was read. Null if read by version.' })),
        type: Type.Enum(PROMPT_TYPES),
        template_text: nullable(Type.String({ description: 'The template. Null for `chat`.' })),
        messages: nullable(messagesSchema),
        variables: variablesSchema,
        description: nullable(Type.String()),
        created_at: time('Creation time of the version.'),
      },
      { title: 'ServedPrompt' },
    ),
  },
  errors: [404],
} satisfies Operation;

/** `GET /prompts/{name}`: prompts for programs. Reads the control store only. */
export function servedPromptRoutes({
  routes,
  control: { promptLabels },
}: Pick<ApiContext, 'routes' | 'control'>): readonly Route[] {
  return [
    routes.route(readPrompt).to(async ({ identity, params: { name }, query }) => {
      const { version, session_id: sessionId = null } = query;
      if (version !== undefined && query.label !== undefined)
        throw validationProblem('query', [{ field: 'label', message: 'cannot be combined with version' }]);
      const label = version === undefined ? (query.label ?? DEFAULT_LABEL) : null;
      const found = await promptLabels.find(
        identity.userId,
        name,
        label === null ? { kind: 'version', version: version ?? 0 } : { kind: 'label', label, sessionId },
      );
      if (found.kind !== 'found') throw missing(found, label ?? version ?? 0);
      const { prompt } = found;
      const messages = messagesOf(prompt);
      const encoded = Buffer.from(
        JSON.stringify({
          id: prompt.id,
          name: prompt.name,
          version: prompt.version,
          label,
          type: prompt.type,
          template_text: messages === null ? prompt.template_text : null,
          messages,
          variables: variablesOf(prompt),
          description: prompt.description,
          created_at: formatTime(prompt.created_at),
        }),
      );
      const caching = label === null ? CACHING.version : CACHING.label;
      return {
        status: 200,
        encoded,
        headers: { etag: entityTag(encoded), 'cache-control': caching, vary: 'Authorization, Cookie' },
      };
    }),
  ];
}

/** @param wanted a label, or the number of a version */
function missing(
  found: Exclude<FoundPrompt, { readonly kind: 'found' }>,
  wanted: string | number,
): HttpProblem {
  if (found.kind === 'no_prompt') return notFound('prompt');
  const labels = [...found.labels.slice(0, NAMED_LABELS), LATEST].join(', ');
  const more = found.labels.length > NAMED_LABELS ? ' and more' : '';
  const [what, remedy] =
    typeof wanted === 'string' ? ['label', 'set the label first'] : ['version', 'an existing version'];
  return new HttpProblem(
    404,
    'not_found',
    `The prompt has no ${what} ${String(wanted)}. Its labels: ${labels}${more}. Request one of them, or ${remedy}.`,
  );
}
