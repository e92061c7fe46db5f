import { Type } from 'typebox';
import { AuditTrail, createAudit, type Audit } from '../../api/support/audit.js';
import { openApiRoutes } from '../../api/openapi/openapi.js';
import { reportLostSecrets } from '../../api/lost-secrets.js';
import { apiRoutes } from '../../api/routes.js';
import type { Api } from '../../api/support/api.js';
import type { Component } from '../../component/component.js';
import type { ExtensionFactory } from '../../component/factory.js';
import type { Caller } from '../../component/host.js';
import { endpoint, extensionId, filePath, section } from '../../config/schema.js';
import { tlsFiles, tlsOptions, tlsResources } from '../../config/tls.js';
import { createRouteBuilder } from '../../http/operation.js';
import { targetPolicy } from '../../api/support/target-policy.js';
import { isControlStore } from '../../storage/contracts/control-store.js';
import { isPartialTelemetryStore } from '../../storage/contracts/telemetry-store.js';
import { checkS3, s3Keys } from '../../storage/transfer/backup-bucket.js';

const configSchema = section(
  {
    endpoint: endpoint({
      default: '127.0.0.1:4319',
      description: 'Address that serves the API. Components with the same endpoint share the listener.',
    }),
    store: extensionId({
      default: 'duckdb',
      description: 'Id of the telemetry store.',
    }),
    control: extensionId({
      default: 'sqlite',
      description: 'Id of the control store, which holds users, keys, prompts, alerts and webhooks.',
    }),
    cors: section(
      {
        allowed_origins: Type.Array(Type.String({ minLength: 1 }), {
          default: [],
          description: 'Origins whose pages may call the API, such as https://ops.example.com; * allows any.',
        }),
      },
      { description: 'Cross-origin requests from browsers.' },
    ),
    export_root: Type.Optional(
      filePath({
        description: 'Directory that contains exports. Default: exports, next to the control store.',
      }),
    ),
    backup_s3: section(
      {
        url: Type.Optional(
          Type.String({
            pattern: '^s3://[^/]+',
            description: 'Bucket and prefix below which clients may back up, such as s3://backups/jackdaw.',
          }),
        ),
        ...s3Keys,
      },
      { description: 'S3 for backups that clients request (jackdaw backup --to s3://…).' },
    ),
    tls: tlsFiles(),
  },
  { description: 'The API for reading telemetry and for administration.' },
);

export const queryExtension: ExtensionFactory<typeof configSchema> = {
  kind: 'extension',
  type: 'query',
  description: 'HTTP API for traces, agents and administration, with openapi.json.',
  stability: 'beta',
  configSchema,
  check: ({ backup_s3 }) => checkS3(backup_s3, '/backup_s3'),
  resources: ({ endpoint: address, tls }) => [
    { kind: 'http_listener', endpoint: address },
    ...tlsResources(address, tls),
  ],
  create: ({ config, logger, clock }): Component & Api => {
    let trail: AuditTrail | undefined;
    const audit: Audit = (...action) => {
      createAudit(logger, trail)(...action);
    };
    return {
      isApi: true,
      allowedOrigins: config.cors.allowed_origins.map((origin) => origin.toLowerCase().replace(/\/$/, '')),
      audit,
      endpoint: config.endpoint,
      async start(host) {
        const listener = host.listener(config.endpoint, {
          tls: tlsOptions(config.tls),
          allowedOrigins: config.cors.allowed_origins,
        });
        const routes = createRouteBuilder(host);
        const telemetry = host.extension(config.store, isPartialTelemetryStore);
        const control = host.extension(config.control, isControlStore);
        trail = new AuditTrail(control.audit, clock, logger);
        const secrets = host.secretBox(control.directory);
        await reportLostSecrets(control.endpoints, secrets, logger);
        const context = {
          routes,
          telemetry,
          control,
          identityNow: (request: Caller) => host.identityNow(request),
          refreshKeys: () => host.refreshKeys(),
          targets: targetPolicy(control, clock),
          secrets,
          exportRoot: config.export_root,
          backupS3: config.backup_s3,
          audit,
          takeStorage: async (userId: string, bytes: number) => {
            await telemetry.stored?.take(userId, bytes);
          },
          logger,
          rejections: host.rejections,
          prices: () => host.prices.leadingTo(config.store),
          clock,
          daemon: host.daemon,
          health: () => host.health(),
        };
        for (const route of apiRoutes(context)) listener.route(route);
        for (const route of openApiRoutes(routes, listener)) listener.route(route);
      },
      async shutdown() {
        await trail?.stop();
      },
    };
  },
};
