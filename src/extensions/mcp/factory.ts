import { isApi } from '../../api/support/api.js';
import type { ExtensionFactory } from '../../component/factory.js';
import { HttpProblem, type HttpRequest } from '../../component/http.js';
import { isSameOrigin } from '../../http/authority.js';
import { checkMcpConfig, mcpConfig } from './config.js';

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
