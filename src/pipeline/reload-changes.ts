import { isDeepStrictEqual } from 'node:util';
import type { Config, ConfiguredComponent } from '../config/config.js';
import { COMPONENT_SECTIONS } from '../config/file-schema.js';
import { SELF } from '../config/own-telemetry.js';
import type { Signal } from '../signal/batch.js';
import { filesOf, type Built, type BuiltNode } from './build.js';
import { nameOf } from './node.js';
import type { Plan, PlannedPipeline } from './plan.js';

/** Keys that components or listeners read once. */
const FIXED = [
  'auth',
  'secrets',
  'service.extensions',
  'service.http',
  'service.intake',
  'service.telemetry.metrics',
  'service.telemetry.otlp.logs',
  'service.telemetry.otlp.metrics',
  'service.telemetry.otlp.resource',
  'service.telemetry.otlp.timeout',
  'service.telemetry.otlp.traces',
  'service.telemetry.otlp.user',
  'service.telemetry.logs.format',
  'service.user_limits.share',
  'service.user_limits.stored_bytes',
];

/** Paths of the keys that differ. Lists count as one value. */
export function changedKeys(before: Config, now: Config): readonly string[] {
  return differences(treeOf(before), treeOf(now), '');
}

function treeOf(config: Config): object {
  const { auth, secretKeeping: secrets, smtp, service, components } = config;
  const byId = (section: ReadonlyMap<string, ConfiguredComponent>): object =>
    Object.fromEntries([...section].map(([id, component]) => [id, component.config]));
  return {
    // Normalized, so that its keys are not those of the file: one value.
    ...{ auth, secrets, smtp: [smtp], service },
    receivers: byId(components.receiver),
    processors: byId(components.processor),
    exporters: byId(components.exporter),
    extensions: byId(components.extension),
  };
}

function differences(before: unknown, now: unknown, path: string): readonly string[] {
  if (isDeepStrictEqual(before, now)) return [];
  if (!isMap(before) || !isMap(now)) return [path];
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].flatMap((key) =>
    differences(before[key], now[key], path === '' ? key : `${path}.${key}`),
  );
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What runs, or is to run. */
interface Side {
  readonly config: Config;
  readonly plan: Plan;
}

/**
 * The keys that only a restart applies: settings of listeners and stores, extensions, receivers, and a signal that a receiver does
 * not take yet or would no longer take.
 */
export function keysThatNeedRestart(before: Side, now: Side, keys: readonly string[]): readonly string[] {
  const fixed = keys.filter((key) => FIXED.some((one) => key === one || key.startsWith(`${one}.`)));
  const [own, others] = [before, now].map(({ plan }) => fixedComponents(plan));
  const components = [...new Set([...(own?.keys() ?? []), ...(others?.keys() ?? [])])].flatMap((name) => {
    const [one, other] = [own?.get(name), others?.get(name)];
    if (one === undefined || other === undefined) return [name];
    const changed = keys.filter((key) => key === name || key.startsWith(`${name}.`));
    if (changed.length > 0) return changed;
    return one.factory === other.factory ? [] : [`${name} (its plugin has changed)`];
  });
  const signals = receiverSignals(now.plan).flatMap(([receiver, signal, pipeline]) =>
    receiverSignals(before.plan).some(([id, its]) => id === receiver && its === signal)
      ? []
      : [`service.pipelines.${pipeline}.receivers`],
  );
  const lost = receiverSignals(before.plan).flatMap(([receiver, signal, pipeline]) =>
    receiverSignals(now.plan).some(([id, its]) => id === receiver && its === signal)
      ? []
      : [`service.pipelines.${pipeline}.receivers`],
  );
  return [...new Set([...fixed, ...components, ...signals, ...lost, ...ownTelemetry(before, now)])];
}

/** Another server follows; whether own telemetry goes to a server, to this daemon or nowhere is decided at the start. */
function ownTelemetry(before: Side, now: Side): readonly string[] {
  const [one, other] = [before, now].map(({ config }) => config.service.telemetry.otlp.endpoint ?? '');
  const isServer = (endpoint: string | undefined): boolean => endpoint !== '' && endpoint !== SELF;
  return one === other || (isServer(one) && isServer(other)) ? [] : ['service.telemetry.otlp.endpoint'];
}

/** By path. */
function fixedComponents({ extensions, pipelines }: Plan): ReadonlyMap<string, ConfiguredComponent> {
  const all: readonly ConfiguredComponent[] = [
    ...extensions,
    ...pipelines.flatMap(({ receivers }) => receivers),
  ];
  return new Map(
    all.map((component) => [`${COMPONENT_SECTIONS[component.kind]}.${component.id}`, component]),
  );
}

function receiverSignals({ pipelines }: Plan): readonly (readonly [string, Signal, string])[] {
  return pipelines.flatMap(({ name, signal, receivers }) =>
    receivers.map(({ id }) => [id, signal, name] as const),
  );
}

/** The components that go on, by name: those of the same type whose configuration, and the files named in it, are the same. */
export function keptNodes(
  built: Built,
  before: Config,
  { config, plan }: Side,
): ReadonlyMap<string, BuiltNode> {
  const kept = new Map<string, BuiltNode>();
  const running = new Map(
    [...built.exporters, ...built.processors.flat(), ...built.receivers, ...built.extensions].map((node) => [
      nameOf(node),
      node,
    ]),
  );
  const hadSmtp = before.smtp !== null;
  const keep = (configured: ConfiguredComponent, pipeline?: string): void => {
    const { kind, id, factory } = configured;
    const name = nameOf({ kind, id, ...(pipeline === undefined ? {} : { pipeline }) });
    const node = running.get(name);
    if (node?.configured.factory !== factory) return;
    if (factory.kind === 'exporter' && factory.needsSmtp === true && hadSmtp !== (config.smtp !== null))
      return;
    const isSame =
      isDeepStrictEqual(node.configured.config, configured.config) && node.files === filesOf(configured);
    // Changes of receivers and extensions are refused; they read certificates again themselves.
    if (isSame || kind === 'receiver' || kind === 'extension') kept.set(name, node);
  };
  for (const extension of plan.extensions) keep(extension);
  for (const pipeline of plan.pipelines) {
    const { name, receivers, processors, exporters } = pipeline;
    for (const component of [...receivers, ...exporters]) keep(component);
    const order = (built.processors.find(([first]) => first?.pipeline === name) ?? []).map(({ id }) => id);
    processors.forEach((processor, index) => {
      if (!overtakes(processor.id, index, order, pipeline)) keep(processor, name);
    });
  }
  return kept;
}

/**
 * Whether a processor that followed now comes first: batches inside the one would go on without the other, which may redact them. The
 * old one then sends them to the old others.
 */
function overtakes(
  id: string,
  index: number,
  order: readonly string[],
  { processors }: PlannedPipeline,
): boolean {
  const followed = order.slice(order.indexOf(id) + 1);
  return order.includes(id) && processors.slice(0, index).some((before) => followed.includes(before.id));
}
