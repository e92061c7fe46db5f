import type { Component } from '../../component/component.js';
import type { Host } from '../../component/host.js';
import type { Clock, Logger } from '../../component/telemetry.js';
import { browserSessionRoutes, RefusedLinks } from '../../api/resources/browser-sessions.js';
import { isApi } from '../../api/support/api.js';
import { createRouteBuilder } from '../../http/operation.js';
import { readBuiltFiles } from './built-files.js';
import { publicPlace, type UiConfig } from './config.js';
import { fileRoutes, INDEX, notFoundPage } from './file-routes.js';

/** Serves the built pages, and lets browsers log in for them. */
export class UiExtension implements Component {
  readonly #config: UiConfig;
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #refused: RefusedLinks | undefined;

  /** @param folder of the built files */
  constructor(
    config: UiConfig,
    folder: string,
    { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  ) {
    this.#config = config;
    this.#folder = folder;
    this.#clock = clock;
    this.#logger = logger;
  }

  async start(host: Host): Promise<void> {
    const { api, endpoint } = this.#config;
    const { basePath, publicUrl } = publicPlace(this.#config);
    const { endpoint: apiEndpoint, audit } = host.extension(api, isApi);
    const hosts = publicUrl === null ? [] : [publicUrl.host];
    const options = { hosts, isHttps: publicUrl?.protocol === 'https:' };
    const pages = host.listener(endpoint === null || endpoint === '' ? apiEndpoint : endpoint, options);
    const apiListener = host.listener(apiEndpoint, options);
    const site = {
      basePath,
      publicUrl,
      // Whether the listener uses TLS is known only after all components have started.
      get secure() {
        return apiListener.secure;
      },
    };
    const logins = await host.browserLogins(site);
    const routes = createRouteBuilder(host);
    const refused = new RefusedLinks(audit, this.#clock);
    this.#refused = refused;
    for (const route of browserSessionRoutes({ routes, logins, audit, refused })) apiListener.route(route);
    const files = await readBuiltFiles(this.#folder);
    if (!files.some(({ name }) => name === INDEX)) {
      this.#logger.warn(
        { folder: this.#folder },
        'The web pages were not built (run npm run build); only the API is available',
      );
      return;
    }
    for (const route of fileRoutes(files, basePath)) pages.route(route);
    pages.unknown(notFoundPage(files, basePath));
  }

  async shutdown(): Promise<void> {
    this.#refused?.close();
  }
}
