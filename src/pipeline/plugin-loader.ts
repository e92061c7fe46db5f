import { dirname, resolve as resolvePath } from 'node:path';
import { pathToFileURL } from 'node:url';
import { resolve } from 'import-meta-resolve';
import { parseComponentId } from '../component/component-id.js';
import type { Factory, Plugin } from '../component/factory.js';
import { deliveryKeys } from '../delivery/queue/config.js';
import { checkSchema } from '../config/schema-check.js';
import { SIGNALS } from '../signal/batch.js';
import { systemClock } from '../telemetry/system-clock.js';
import { LIMITS_KEY } from './isolation/limits.js';
import { isPath } from './plugin-file.js';
import { letPluginsImport, withStamp } from './plugin-imports.js';

/** The version of the contract in `component/` that this program supports. */
const API_VERSION = 1;
/** Loading a module should be quick: its work belongs in `start`. */
const IMPORT_TIMEOUT_MS = 30_000;
const KINDS: readonly string[] = [
  'receiver',
  'processor',
  'exporter',
  'extension',
] satisfies Factory['kind'][];

/** An empty section. */
const NOTHING_WRITTEN = {
  kind: 'map',
  position: { file: '', line: 1, column: 1 },
  entries: new Map<string, never>(),
} as const;

/** The keys of a queued exporter's configuration that the engine reads. */
const DELIVERY_KEYS = Object.keys(deliveryKeys());

/**
 * Loads a code plugin: an ES module whose default export is a {@link Plugin}. The module may be anywhere and may import
 * `jackdaw`.
 *
 * @param specifier a path (absolute, or starting with `./` or `../`) or the name of a package
 * @param file the configuration file that names the plugin: paths and packages are resolved from there
 * @param options `stamp` of its files, so that changed ones are loaded again; `timeoutMs`, the time limit for loading the module
 * @throws Error that names the plugin, the problem and the remedy
 */
export async function loadPlugin(
  specifier: string,
  file: string,
  {
    timeoutMs = IMPORT_TIMEOUT_MS,
    stamp = '',
  }: { readonly timeoutMs?: number; readonly stamp?: string } = {},
): Promise<Plugin> {
  const module = await importModule(specifier, resolvePath(file), { timeoutMs, stamp });
  const plugin = 'default' in module ? module.default : undefined;
  if (typeof plugin !== 'object' || plugin === null)
    throw new Error(`plugin "${specifier}" has no default export: it must export a Plugin as default`);
  const { name, apiVersion, factories } = plugin as Partial<Record<keyof Plugin, unknown>>;
  if (apiVersion !== API_VERSION) throw new Error(`plugin "${specifier}" ${otherVersion(apiVersion)}`);
  if (typeof name !== 'string' || name === '') throw new Error(`plugin "${specifier}" has no name`);
  if (!Array.isArray(factories) || factories.length === 0)
    throw new Error(`plugin "${specifier}" has no list of factories`);
  for (const factory of factories) checkFactory(specifier, factory);
  return plugin as Plugin;
}

/** The problem and remedy for a plugin of another version of the contract. */
function otherVersion(version: unknown): string {
  const spoken = `this version supports ${API_VERSION}`;
  if (typeof version !== 'number')
    return `has no apiVersion: set the version of the plugin API that it was written for; ${spoken}`;
  return version > API_VERSION
    ? `is for version ${version} of the plugin API, ${spoken}: install a newer Jackdaw, or an older version of the plugin`
    : `is for version ${version} of the plugin API, ${spoken}: install a newer version of the plugin`;
}

async function importModule(
  specifier: string,
  file: string,
  { timeoutMs, stamp }: { readonly timeoutMs: number; readonly stamp: string },
): Promise<object> {
  let url: string;
  try {
    url = isPath(specifier)
      ? withStamp(pathToFileURL(resolvePath(dirname(file), specifier)).href, stamp)
      : resolve(specifier, pathToFileURL(file).href);
  } catch (cause) {
    throw new Error(
      `plugin "${specifier}" was not found: install the package next to the configuration, or write a path that starts with ./`,
      { cause },
    );
  }
  letPluginsImport();
  let cancel = (): void => undefined;
  const late = new Promise<never>((_, reject) => {
    cancel = systemClock.after(timeoutMs, () => {
      reject(new Error(`its module has a top-level await and did not load within ${timeoutMs} ms`));
    });
  });
  try {
    return (await Promise.race([import(url), late])) as object;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`plugin "${specifier}" cannot be loaded: ${reason}`, { cause });
  } finally {
    cancel();
  }
}

function checkFactory(specifier: string, candidate: unknown): void {
  const fail = (what: string): never => {
    throw new Error(`plugin "${specifier}" has a broken factory: ${what}`);
  };
  if (typeof candidate !== 'object' || candidate === null) return fail('it is not an object');
  const factory = candidate as Partial<Record<string, unknown>>;
  const { kind, type } = factory;
  if (typeof kind !== 'string' || !KINDS.includes(kind)) return fail(`its kind is "${String(kind)}"`);
  const id = typeof type === 'string' ? parseComponentId(type) : undefined;
  if (id?.name !== '') return fail(`"${String(type)}" is not a type: use lower_snake_case`);
  checkCreate(`${kind} "${id.type}"`, kind, factory['create'], fail);
  const schema = factory['configSchema'];
  if (typeof schema !== 'object' || schema === null || !('type' in schema) || schema.type !== 'object')
    fail(`${kind} "${id.type}" has no configSchema of type object`);
  checkConfigSchema(`${kind} "${id.type}"`, schema, fail);
  if (typeof factory['description'] !== 'string') fail(`${kind} "${id.type}" has no description`);
  if (typeof factory['stability'] !== 'string') fail(`${kind} "${id.type}" has no stability`);
  if (kind === 'receiver' || kind === 'exporter')
    checkSignals(`${kind} "${id.type}"`, factory['signals'], fail);
  if (kind === 'processor' && typeof factory['mutatesBatch'] !== 'boolean')
    fail(`processor "${id.type}" must declare mutatesBatch: whether it changes the items it receives`);
  if (kind === 'exporter' && factory['delivery'] !== 'direct' && factory['delivery'] !== 'queued')
    fail(`exporter "${id.type}" must declare its delivery: direct or queued`);
  if (factory['delivery'] === 'queued' && !DELIVERY_KEYS.every((key) => hasProperty(schema, key)))
    fail(`exporter "${id.type}" is queued: its configSchema must include deliveryKeys()`);
}

function checkConfigSchema(name: string, schema: unknown, fail: (what: string) => never): void {
  if (hasProperty(schema, LIMITS_KEY)) fail(`${name} has a key ${LIMITS_KEY}, which is reserved`);
  try {
    checkSchema(schema as object, NOTHING_WRITTEN, []);
  } catch (error) {
    fail(
      `the configSchema of ${name} is not a JSON Schema: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function checkSignals(name: string, signals: unknown, fail: (what: string) => never): void {
  if (!Array.isArray(signals) || signals.length === 0) return fail(`${name} has no signals`);
  for (const signal of signals)
    if (!SIGNALS.some((known) => known === signal))
      fail(`${name} is for "${String(signal)}", which is not a signal`);
}

function hasProperty(schema: unknown, key: string): boolean {
  if (typeof schema !== 'object' || schema === null || !('properties' in schema)) return false;
  return typeof schema.properties === 'object' && schema.properties !== null && key in schema.properties;
}

/** A processor has a create function for each signal that it supports, other components have one. */
function checkCreate(name: string, kind: string, create: unknown, fail: (what: string) => never): void {
  if (kind !== 'processor') {
    if (typeof create !== 'function') fail(`${name} has no create function`);
    return;
  }
  const bySignal = typeof create === 'object' && create !== null ? Object.entries(create) : [];
  if (bySignal.length === 0)
    fail(`${name} has no create functions by signal, such as create: { traces() {…} }`);
  for (const [signal, one] of bySignal) {
    if (!SIGNALS.some((known) => known === signal))
      fail(`${name} creates components for "${signal}", which is not a signal`);
    if (typeof one !== 'function') fail(`${name} has no create function for ${signal}`);
  }
}
