import { Type, type Static } from 'typebox';
import type { PromptVersion } from '../../storage/contracts/prompts.js';

const MAX_ROLE_LENGTH = 64;
const MAX_MESSAGES = 1000;
/** Maximum number of listed variables. */
const MOST_VARIABLES = 1000;

/** `{{name}}`, with or without blanks. */
const VARIABLE = /\{\{\s*([\p{L}_][\p{L}\p{N}_.-]*)\s*\}\}/gu;

const messageSchema = Type.Object(
  {
    role: Type.String({
      minLength: 1,
      maxLength: MAX_ROLE_LENGTH,
      description: 'Author of the message, such as `system`, `user` or `assistant`.',
    }),
    content: Type.String({ description: 'Text of the message.' }),
  },
  { title: 'PromptMessage', additionalProperties: false },
);

export const messagesSchema = Type.Array(messageSchema, { minItems: 1, maxItems: MAX_MESSAGES });

type Messages = Static<typeof messagesSchema>;

/** The messages of a chat prompt; null for a text. */
export function messagesOf({
  type,
  template_text,
}: Pick<PromptVersion, 'type' | 'template_text'>): Messages | null {
  return type === 'chat' ? (JSON.parse(template_text) as Messages) : null;
}

export const variablesSchema = Type.Array(Type.String(), {
  description: `Variables of the template, \`{{name}}\`, each once in order: the first ${MOST_VARIABLES}.`,
});

/** The names in `{{…}}` of a template, each once in order. */
export function variablesOf(prompt: Pick<PromptVersion, 'type' | 'template_text'>): string[] {
  const texts = messagesOf(prompt)?.map(({ content }) => content) ?? [prompt.template_text];
  const names = new Set<string>();
  for (const text of texts)
    for (const [, name = ''] of text.matchAll(VARIABLE)) if (names.size < MOST_VARIABLES) names.add(name);
  return [...names];
}
