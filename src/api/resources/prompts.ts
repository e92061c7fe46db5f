import { Type, type Static } from 'typebox';
import type { Route } from '../../component/http.js';
import type { Operation } from '../../component/operation.js';
import { uuidV7 } from '../../signal/ids.js';
import { formatTime } from '../../signal/time.js';
import type { Identity } from '../../component/identity.js';
import { validationProblem } from '../../http/field-errors.js';
import type { PromptLabel } from '../../storage/contracts/prompt-labels.js';
import {
  MOST_TEXT_BYTES,
  MOST_VERSIONS,
  PROMPT_TYPES,
  promptBytes,
  type PromptPage,
  type Prompts,
  type PromptVersion,
} from '../../storage/contracts/prompts.js';
import type { ApiContext } from '../support/api-context.js';
import { conflictAsProblem } from '../support/conflict.js';
import { nullable, time, uuid } from '../support/fields.js';
import { longList } from '../support/long-body.js';
import { notFound } from '../support/not-found.js';
import { pageParameters } from '../support/paging.js';
import { messagesSchema, variablesOf, variablesSchema } from '../support/prompt-template.js';

const MAX_NAME_LENGTH = 1024;
const MAX_TEMPLATE_LENGTH = 1024 * 1024;
const MAX_DESCRIPTION_LENGTH = 64 * 1024;
/** Room for the longest template and description, even if every character is written as two escapes. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** The name of a prompt. */
export function promptName(description: string, format = 'not-blank') {
  return Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH, format, description });
}

/** The range of version numbers. */
export const promptVersion = { minimum: 0, maximum: Number.MAX_SAFE_INTEGER };

/** The placeholder of the paths below a prompt. */
export const promptParams = Type.Object({
  name: promptName('Percent-encoded: a slash is `%2F`.'),
});

const promptSchema = Type.Object(
  {
    id: uuid(),
    name: Type.String(),
    version: Type.Integer({ minimum: 0 }),
    type: Type.Enum(PROMPT_TYPES),
    template_text: Type.String({ description: 'The template; for `chat`, its messages as JSON.' }),
    description: nullable(Type.String()),
    variables: variablesSchema,
    labels: Type.Array(Type.String(), { description: 'Labels that serve the version, without `latest`.' }),
    is_active: Type.Boolean(),
    created_at: time(),
  },
  { title: 'Prompt' },
);

const createPrompt = {
  id: 'createPrompt',
  method: 'POST',
  path: '/api/v1/dashboard/prompts/',
  tag: 'prompts',
  summary: 'Create a version of a prompt',
  description: `A user can have ${MOST_VERSIONS} versions and ${MOST_TEXT_BYTES / 1024 / 1024} MiB of names, templates and descriptions. More is a conflict, as is a deleted version number.`,
  access: 'manage',
  audit: ['prompt.created'],
  body: Type.Object(
    {
      name: promptName(
        'Groups versions. Kept unchanged, including spaces at its ends. Not `.` or `..`.',
        'prompt-name',
      ),
      version: Type.Integer({
        ...promptVersion,
        default: 1,
        description: 'Unique, together with the name, for the user; above every deleted version.',
      }),
      template_text: Type.Optional(
        Type.String({
          maxLength: MAX_TEMPLATE_LENGTH,
          description: 'Text with variables, `{{name}}`. Required unless `messages` is set.',
        }),
      ),
      messages: Type.Optional(messagesSchema),
      description: Type.Optional(Type.String({ maxLength: MAX_DESCRIPTION_LENGTH })),
    },
    { title: 'NewPrompt', additionalProperties: false },
  ),
  responses: { 201: promptSchema },
  errors: [409],
  maxBodyBytes: MAX_BODY_BYTES,
} satisfies Operation;

const listPrompts = {
  id: 'listPrompts',
  method: 'GET',
  path: '/api/v1/dashboard/prompts/',
  tag: 'prompts',
  summary: 'List all versions of all prompts, by name, newest version first',
  access: 'read',
  responses: { 200: Type.Array(promptSchema) },
} satisfies Operation;

export const promptNames = {
  id: 'findPromptNames',
  method: 'GET',
  path: '/api/v1/dashboard/prompts/names',
  tag: 'prompts',
  summary: 'List names of prompts that contain a text',
  description: 'ASCII letters match in any case. Each name is listed once, in order.',
  access: 'read',
  query: Type.Object({
    query: Type.Optional(Type.String({ maxLength: MAX_NAME_LENGTH, description: 'Absent: all names.' })),
    page_size: pageParameters.page_size,
  }),
  responses: {
    200: Type.Object(
      {
        items: Type.Array(Type.String()),
        has_more: Type.Boolean({ description: 'Whether there are more names: use a longer text.' }),
      },
      { title: 'PromptNames' },
    ),
  },
} satisfies Operation;

export const listPromptVersions = {
  id: 'listPromptVersions',
  method: 'GET',
  path: '/api/v1/dashboard/prompts/{name}/versions',
  tag: 'prompts',
  summary: 'List all versions of a prompt, newest first',
  access: 'read',
  params: promptParams,
  responses: { 200: Type.Array(promptSchema) },
  errors: [404],
} satisfies Operation;

const DELETION =
  'Links of traces to it are no longer shown or counted, and are removed from the store within about an hour; later spans that name it are not linked. The version number cannot be used again.';

const deletePrompt = {
  id: 'deletePrompt',
  method: 'DELETE',
  path: '/api/v1/dashboard/prompts/{name}',
  tag: 'prompts',
  summary: 'Delete all versions and labels of a prompt',
  description: DELETION,
  access: 'manage',
  audit: ['prompt.deleted'],
  params: promptParams,
  responses: { 204: null },
  errors: [404],
} satisfies Operation;

const deletePromptVersion = {
  id: 'deletePromptVersion',
  method: 'DELETE',
  path: '/api/v1/dashboard/prompts/{name}/versions/{version}',
  tag: 'prompts',
  summary: 'Delete a version of a prompt',
  description: `${DELETION} A version that a label serves is a conflict.`,
  access: 'manage',
  audit: ['prompt.deleted'],
  params: Type.Object({ ...promptParams.properties, version: Type.Integer(promptVersion) }),
  responses: { 204: null },
  errors: [404, 409],
} satisfies Operation;

/** The routes under `/dashboard/prompts` about the prompts themselves. */
export function promptRoutes({
  routes,
  control: { prompts, promptLabels },
  audit,
  takeStorage,
  clock,
}: Pick<ApiContext, 'routes' | 'control' | 'audit' | 'takeStorage' | 'clock'>): readonly Route[] {
  const remove = async (identity: Identity, name: string, version: number | null) =>
    await conflictAsProblem(
      prompts.remove(identity.userId, name, version, { at: clock.now(), keyId: identity.keyId }),
    );
  return [
    routes.route(createPrompt).to(async ({ identity, address, body }) => {
      const now = clock.now();
      const prompt: PromptVersion = {
        id: uuidV7(Math.floor(now / 1000)),
        name: body.name,
        version: body.version,
        ...templateOf(body),
        description: body.description ?? null,
        is_active: true,
        created_at: now,
      };
      await takeStorage(identity.userId, promptBytes(prompt));
      await conflictAsProblem(prompts.create(identity.userId, prompt));
      const { name, version } = prompt;
      audit({ identity, address }, 'prompt.created', { name, version });
      return { status: 201, json: serializePrompt(prompt, []) };
    }),
    routes.route(listPrompts).to(async ({ identity }) => {
      const first = await prompts.list(identity.userId);
      const pages = promptPages(first, (after) => prompts.list(identity.userId, after));
      const print = withLabels(await promptLabels.list(identity.userId));
      return { status: 200, encoded: await longList('[', pages, print, ']') };
    }),
    routes.route(promptNames).to(async ({ identity, query: { query = '', page_size: size } }) => {
      const found = await prompts.findNames(identity.userId, query, size + 1);
      return { status: 200, json: { items: found.slice(0, size), has_more: found.length > size } };
    }),
    routes.route(listPromptVersions).to(async ({ identity, params }) => {
      const versions = await promptVersions(prompts, identity.userId, params.name);
      if (versions === null) throw notFound('prompt');
      const labels = await promptLabels.ofPrompt(identity.userId, params.name);
      return { status: 200, encoded: await longList('[', versions, withLabels(labels ?? []), ']') };
    }),
    routes.route(deletePrompt).to(async ({ params: { name }, ...by }) => {
      if (!(await remove(by.identity, name, null))) throw notFound('prompt');
      audit(by, 'prompt.deleted', { name, version: null });
      return { status: 204 };
    }),
    routes.route(deletePromptVersion).to(async ({ params: { name, version }, ...by }) => {
      if (!(await remove(by.identity, name, version))) throw notFound('prompt version');
      audit(by, 'prompt.deleted', { name, version });
      return { status: 204 };
    }),
  ];
}

/** A few prompts at a time, because all of them may be many megabytes. */
type PromptPages = AsyncIterable<readonly PromptVersion[]>;

/** All versions of a prompt, newest first. @returns null if the user has no prompt of that name */
export async function promptVersions(
  prompts: Prompts,
  userId: string,
  name: string,
): Promise<PromptPages | null> {
  const first = await prompts.listVersions(userId, name);
  return first && promptPages(first, (after) => prompts.listVersions(userId, name, after));
}

/** A paged list; each page is read after the previous one was consumed. */
async function* promptPages(
  first: PromptPage,
  read: (after: string) => Promise<PromptPage | null>,
): AsyncGenerator<readonly PromptVersion[]> {
  let page: PromptPage | null = first;
  while (page !== null) {
    yield page.prompts;
    page = page.next === null ? null : await read(page.next);
  }
}

/** @throws HttpProblem 422 */
function templateOf({
  template_text: text,
  messages,
}: Static<typeof createPrompt.body>): Pick<PromptVersion, 'type' | 'template_text'> {
  const refuse = (message: string) => validationProblem('body', [{ field: '/template_text', message }]);
  if (messages === undefined) {
    if (text === undefined) throw refuse('is required unless messages is set');
    return { type: 'text', template_text: text };
  }
  if (text !== undefined) throw refuse('cannot be combined with messages');
  const template_text = JSON.stringify(messages);
  if (template_text.length > MAX_TEMPLATE_LENGTH)
    throw validationProblem('body', [
      { field: '/messages', message: `must not be longer than ${MAX_TEMPLATE_LENGTH} characters as JSON` },
    ]);
  return { type: 'chat', template_text };
}

/** @returns a serializer of prompts with their labels */
function withLabels(labels: readonly PromptLabel[]): (prompt: PromptVersion) => Static<typeof promptSchema> {
  const byVersion = new Map<string, string[]>();
  for (const { name, label, targets } of labels)
    for (const { version } of targets) {
      const key = `${String(version)} ${name}`;
      byVersion.set(key, [...(byVersion.get(key) ?? []), label]);
    }
  return (prompt) => serializePrompt(prompt, byVersion.get(`${String(prompt.version)} ${prompt.name}`) ?? []);
}

function serializePrompt(prompt: PromptVersion, labels: string[]): Static<typeof promptSchema> {
  return {
    id: prompt.id,
    name: prompt.name,
    version: prompt.version,
    type: prompt.type,
    template_text: prompt.template_text,
    description: prompt.description,
    variables: variablesOf(prompt),
    labels,
    is_active: prompt.is_active,
    created_at: formatTime(prompt.created_at),
  };
}
