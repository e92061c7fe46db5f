import { join } from 'node:path';
import type { Resource } from '../component/factory.js';
import type { Config, ConfiguredComponent } from '../config/config.js';
import type { Problem } from '../config/config-error.js';
import { parseEndpoint, type Endpoint } from '../config/endpoint.js';
import { LOCK_FILE } from '../config/directory-lock.js';
import { COMPONENT_SECTIONS } from '../config/file-schema.js';
import { placeOf as queuePlace } from '../delivery/queue/disk/disk-place.js';
import { isSameTls } from '../http/tls.js';
import { OWN_TELEMETRY } from '../config/own-telemetry.js';
import type { Plan } from './plan.js';

/** An external resource, and the part of the configuration that needs it. */
export interface Claim {
  readonly resource: Resource;
  /** `exporter "file"`; components with the same HTTP endpoint share it. */
  readonly owner: string;
  readonly path: readonly string[];
}

const METRICS_PATH = ['service', 'telemetry', 'metrics', 'endpoint'];

/** Resources that the planned components and the daemon itself need. */
export function claimsOf(config: Config, plan: Plan): readonly Claim[] {
  const components = new Set<ConfiguredComponent>([
    ...plan.extensions,
    ...plan.pipelines.flatMap(({ receivers, processors, exporters }) => [
      ...receivers,
      ...processors,
      ...exporters,
    ]),
  ]);
  const claims = [
    ...[...components].filter(({ isValid }) => isValid).flatMap(claimsOfComponent),
    ...claimsOfOwnTelemetry(config),
  ];
  const endpoint = config.service.telemetry.metrics.endpoint ?? '';
  if (endpoint === '') return claims;
  const resource = { kind: 'http_listener', endpoint, isOperational: true } as const;
  return [...claims, { resource, owner: 'the daemon’s own metrics', path: METRICS_PATH }];
}

function claimsOfOwnTelemetry({ service }: Config): readonly Claim[] {
  const { endpoint, tls } = service.telemetry.otlp;
  if (endpoint === null || tls === undefined) return [];
  return (['ca_file', 'cert_file', 'key_file'] as const).flatMap((key) => {
    const path = tls[key];
    if (path === undefined) return [];
    const place = [...OWN_TELEMETRY.split('.'), 'tls', key];
    return [{ resource: { kind: 'readable_file', path }, owner: 'own telemetry', path: place }];
  });
}

function claimsOfComponent(component: ConfiguredComponent): readonly Claim[] {
  const { kind, id, factory, config } = component;
  const resources = [...(factory.resources?.(config) ?? []), ...queueOf(component)];
  return resources.map((resource) => ({
    resource,
    owner: `${kind} "${id}"`,
    path: placeOf(component, mainValueOf(resource)),
  }));
}

/** The lock of an exporter's queue on disk. */
function queueOf({ id, factory, config }: ConfiguredComponent): readonly Resource[] {
  if (factory.kind !== 'exporter' || factory.delivery === 'direct') return [];
  // A plugin may lack the keys of a queue; it is refused when it is created.
  const { queue } = factory.deliveryConfig?.(config) ?? config;
  const { type, directory } = Object(queue) as { readonly type?: unknown; readonly directory?: unknown };
  if (type !== 'disk' || typeof directory !== 'string') return [];
  return [{ kind: 'writable_file', path: join(queuePlace(directory, id), LOCK_FILE), isExclusive: true }];
}

/** The value of the configuration that names the resource. */
function mainValueOf(resource: Resource): string {
  if (resource.kind === 'tls_files') return resource.certFile;
  return 'path' in resource ? resource.path : resource.endpoint;
}

/** The place of a value, so that errors point to it rather than to the component. */
function placeOf({ kind, id, config }: ConfiguredComponent, wanted: string): readonly string[] {
  const search = (value: unknown, path: readonly string[]): readonly string[] | undefined => {
    if (value === wanted) return path;
    if (typeof value !== 'object' || value === null) return undefined;
    for (const [key, child] of Object.entries(value)) {
      const found = search(child, [...path, key]);
      if (found) return found;
    }
    return undefined;
  };
  const section = [COMPONENT_SECTIONS[kind], id];
  return search(config, section) ?? section;
}

/** Finds conflicts: two owners of one port or file, and two TLS settings for one listener. */
export function checkClaims(config: Config, claims: readonly Claim[]): readonly Problem[] {
  const problems: Problem[] = [];
  const report = (path: readonly string[], message: string) =>
    problems.push({ severity: 'error', position: config.locate(path), path, message });
  claims.forEach((claim, index) => {
    const other = claims.slice(0, index).find((earlier) => collide(earlier, claim));
    if (other) report(claim.path, conflictOf(claim.resource, other.owner));
  });
  return problems;
}

function collide(a: Claim, b: Claim): boolean {
  const [one, two] = [a.resource, b.resource];
  if (one.kind === 'tls_files' && two.kind === 'tls_files')
    return one.listener === two.listener && !isSameTls(one, two);
  if ('path' in one || 'path' in two)
    return (
      one.kind === 'writable_file' &&
      two.kind === 'writable_file' &&
      one.path === two.path &&
      a.owner !== b.owner
    );
  const [first, second] = [endpointOf(one), endpointOf(two)];
  if (!first || !second || first.port === 0 || first.port !== second.port) return false;
  const isSameText = first.host.toLowerCase() === second.host.toLowerCase();
  // Components share one HTTP listener by using the same text. The daemon's own metrics need no key and are not mixed with
  // others.
  const areComponents = a.path !== METRICS_PATH && b.path !== METRICS_PATH;
  if (isSameText) return !(areComponents && one.kind === 'http_listener' && two.kind === 'http_listener');
  return overlap(first, second);
}

/** Whether two different host texts can mean the same address. */
export function overlap(a: Endpoint, b: Endpoint): boolean {
  const isAny = ({ host }: Endpoint) => host === '' || host === '0.0.0.0' || host === '::';
  if (isAny(a) || isAny(b)) return true;
  const isName = ({ host }: Endpoint) => host.toLowerCase() === 'localhost';
  const isHome = ({ host }: Endpoint) => host === '127.0.0.1' || host === '::1';
  return (isName(a) && isHome(b)) || (isHome(a) && isName(b));
}

function endpointOf(resource: Resource): Endpoint | undefined {
  return 'endpoint' in resource ? parseEndpoint(resource.endpoint) : undefined;
}

function conflictOf(resource: Resource, other: string): string {
  if (resource.kind === 'tls_files')
    return `${other} has different TLS settings for the listener ${resource.listener}; make them equal, or change the endpoint of one`;
  const name = 'endpoint' in resource ? `port of ${resource.endpoint}` : `file ${resource.path}`;
  return `${name} also belongs to ${other}; change one of them`;
}
