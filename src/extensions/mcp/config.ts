import { Type, type Static } from 'typebox';
import { extensionId, section } from '../../config/schema.js';

/** Room for markers, notes and at least some data. */
export const LEAST_TOKENS = 500;

export const mcpConfig = section(
  {
    api: extensionId({
      default: 'query',
      description: 'Id of the API extension; its address also serves /mcp.',
    }),
    answer_tokens: Type.Integer({
      default: 4000,
      minimum: LEAST_TOKENS,
      maximum: 100_000,
      description: 'Length of an answer in tokens (estimated) if a call does not set max_tokens.',
    }),
    max_answer_tokens: Type.Integer({
      default: 20_000,
      minimum: LEAST_TOKENS,
      maximum: 100_000,
      description: 'Largest max_tokens of a call.',
    }),
  },
  { description: 'Model Context Protocol: lets coding agents read telemetry.' },
);

export type McpConfig = Static<typeof mcpConfig>;

/** @returns one message for each broken rule that the schema cannot express */
export function checkMcpConfig({ answer_tokens: usual, max_answer_tokens: most }: McpConfig) {
  return usual <= most
    ? []
    : [{ path: '/answer_tokens', message: 'must not be more than max_answer_tokens' }];
}
