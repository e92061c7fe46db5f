import { Type, type Static } from 'typebox';
import { isApi } from '../../api/support/api.js';
import type { ExtensionFactory } from '../../component/factory.js';
import { HttpProblem, type HttpRequest } from '../../component/http.js';
import { extensionId, section } from '../../config/schema.js';
import { isSameOrigin } from '../../http/authority.js';
import { LEAST_TOKENS } from './answer.js';

const mcpConfig = section(
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

/** @returns one message for each broken rule that the schema cannot express */
function checkMcpConfig({ answer_tokens: usual, max_answer_tokens: most }: Static<typeof mcpConfig>) {
  return usual <= most
    ? []
    : [{ path: '/answer_tokens', message: 'must not be more than max_answer_tokens' }];
}

/** Serves the Model Context Protocol at `/mcp`. See `README.md` in this folder. */
export const mcpExtension: ExtensionFactory<typeof mcpConfig> = {
  kind: 'extension',
  type: 'mcp',
  description: 'Model Context Protocol at /mcp: lets coding agents read runs, logs, metrics and costs.',
  stability: 'alpha',
  configSchema: mcpConfig,
  check: checkMcpConfig,
  create: ({ config, clock, logger }) => ({
    async start(host) {
      const { endpoint, allowedOrigins } = host.extension(config.api, isApi);
      const listener = host.listener(endpoint);
      // The SDK takes 25 MB, so it is loaded with the first request.
      const loaded = () => import('./mcp-server.js');
      listener.route({
        method: 'POST',
        path: '/mcp',
        handle(request) {
          const identity = host.authenticate(request, 'any');
          checkOrigin(request, allowedOrigins);
          return loaded().then(({ answerMcp }) =>
            answerMcp(request, { config, clock, logger, listener, scopes: identity.scopes }),
          );
        },
      });
    },
  }),
};

/**
 * The protocol requires servers to refuse requests from unknown web pages.
 *
 * @throws HttpProblem 403 `forbidden_origin`
 */
function checkOrigin(request: HttpRequest, allowed: readonly string[]): void {
  const origin = request.header('origin');
  if (origin === undefined || allowed.includes('*') || allowed.includes(origin.toLowerCase())) return;
  if (isSameOrigin(origin, request.header('host') ?? '')) return;
  throw new HttpProblem(
    403,
    'forbidden_origin',
    'Pages of this origin may not call /mcp: add the origin to cors.allowed_origins of the extension query.',
  );
}
