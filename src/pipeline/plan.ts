import { parseComponentId, type Kind } from '../component/component-id.js';
import { signalsOf, type Factory, type NamedPipeline } from '../component/factory.js';
import { COMPONENT_SECTIONS, type PipelineConfig } from '../config/file-schema.js';
import type { Config, ConfiguredComponent, Factories, FactoryOf } from '../config/config.js';
import type { Problem } from '../config/config-error.js';
import { suggestion } from '../config/nearest-name.js';
import { SIGNALS, type Signal } from '../signal/batch.js';
import { extensionReferences } from './extension-references.js';

export interface PlannedPipeline {
  /** `traces`, `traces/archive` */
  readonly name: string;
  readonly signal: Signal;
  readonly receivers: readonly ConfiguredComponent<FactoryOf<'receiver'>>[];
  /** Exporters of other pipelines, listed under receivers, that pass items on to this one. */
  readonly connectors: readonly ConfiguredComponent<FactoryOf<'exporter'>>[];
  readonly processors: readonly ConfiguredComponent<FactoryOf<'processor'>>[];
  readonly exporters: readonly ConfiguredComponent<FactoryOf<'exporter'>>[];
}

/** The advice for a component of an existing type that a pipeline lists but the configuration does not declare. */
export const TO_BE_WRITTEN = '; declare it there, as in config.example.yaml';

/** The components and pipelines to build. */
export interface Plan {
  /** In start order: each after the extensions that it names. */
  readonly extensions: readonly ConfiguredComponent<FactoryOf<'extension'>>[];
  readonly pipelines: readonly PlannedPipeline[];
}

/**
 * Plans the pipelines of a configuration and finds its inconsistencies. Pure.
 *
 * @param factories the existing types, to distinguish an undeclared component from an unknown type
 */
export function planPipelines(
  config: Config,
  factories: Factories,
): {
  readonly plan: Plan;
  readonly problems: readonly Problem[];
} {
  const planner = new Planner(config, factories);
  const pipelines = Object.entries(config.service.pipelines).flatMap(([name, pipeline]) => {
    const planned = planner.pipeline(name, pipeline);
    return planned ? [planned] : [];
  });
  planner.checkConnectors(pipelines);
  const extensions = planner.extensions();
  planner.checkExtensionReferences();
  planner.warnOfUnused();
  const ordered = orderExtensions(extensions);
  if (ordered.cycle.length > 0)
    planner.report(
      ['service', 'extensions'],
      `these extensions depend on each other in a circle: ${ordered.cycle.join(' → ')}`,
    );
  return { plan: { extensions: ordered.extensions, pipelines }, problems: planner.problems };
}

/** The pipelines of its signal that a connector passes items on to. */
export function targetsOf(
  { factory, config, isValid }: ConfiguredComponent<FactoryOf<'exporter'>>,
  signal: Signal,
): readonly NamedPipeline[] {
  const named = (isValid && factory.pipelines?.(config)) || [];
  return named.filter(({ name }) => parseComponentId(name)?.type === signal);
}

/**
 * Sorts pipelines into levels: each receives from pipelines of earlier levels only.
 *
 * @returns the levels, and the pipelines of a loop in the order of the flow
 */
export function levelsOf(pipelines: readonly PlannedPipeline[]): {
  readonly levels: readonly (readonly PlannedPipeline[])[];
  readonly loop: readonly PlannedPipeline[];
} {
  const levels: PlannedPipeline[][] = [];
  let left = pipelines;
  const feedersOf = ({ name, signal }: PlannedPipeline) =>
    left.filter(({ signal: other, exporters }) =>
      exporters.some(
        (exporter) =>
          (other === signal || exporter.factory.createdSignals !== undefined) &&
          targetsOf(exporter, signal).some((target) => target.name === name),
      ),
    );
  while (left.length > 0) {
    const level = left.filter((pipeline) => feedersOf(pipeline).length === 0);
    if (level.length === 0) break;
    levels.push(level);
    left = left.filter((pipeline) => !level.includes(pipeline));
  }
  const loop: PlannedPipeline[] = [];
  for (let [at] = left; at !== undefined; [at] = feedersOf(at)) {
    const start = loop.indexOf(at);
    if (start >= 0) return { levels, loop: loop.slice(start).toReversed() };
    loop.push(at);
  }
  return { levels, loop: [] };
}

class Planner {
  readonly problems: Problem[] = [];
  readonly #config: Config;
  readonly #factories: Factories;
  readonly #used = new Map<string, ConfiguredComponent>();

  constructor(config: Config, factories: Factories) {
    this.#config = config;
    this.#factories = factories;
  }

  report(path: readonly string[], message: string, severity: Problem['severity'] = 'error'): void {
    this.problems.push({ severity, position: this.#config.locate(path), path, message });
  }

  pipeline(name: string, pipeline: PipelineConfig): PlannedPipeline | undefined {
    const path = ['service', 'pipelines', name];
    const word = parseComponentId(name)?.type ?? name;
    const signal = SIGNALS.find((known) => known === word);
    if (signal === undefined)
      this.report(
        path,
        `"${word}" is not a signal: pipelines are named by their signal${suggestion(word, SIGNALS)}`,
      );
    const references = <K extends Exclude<Kind, 'extension'>>(
      kind: K,
      ids: readonly string[],
      list: string = COMPONENT_SECTIONS[kind],
    ) => this.#references(kind, ids, [...path, list], signal);
    const connectorIds = pipeline.receivers.filter((id) => this.#isConnector(id));
    const connectors = references('exporter', connectorIds, 'receivers');
    const receivers = references('receiver', pipeline.receivers);
    const processors = references('processor', pipeline.processors);
    const exporters = references('exporter', pipeline.exporters);
    this.#checkOrder([...path, COMPONENT_SECTIONS.processor], pipeline.processors, processors);
    return signal && { name, signal, receivers, connectors, processors, exporters };
  }

  /** A connector and the pipelines that it passes items on to must name each other. */
  checkConnectors(pipelines: readonly PlannedPipeline[]): void {
    const byName = new Map(pipelines.map((pipeline) => [pipeline.name, pipeline]));
    const all = new Set(pipelines.flatMap(({ connectors, exporters }) => [...connectors, ...exporters]));
    for (const connector of all) {
      if (!connector.isValid || connector.factory.pipelines === undefined) continue;
      const { id } = connector;
      for (const { name, path } of connector.factory.pipelines(connector.config)) {
        const place = [COMPONENT_SECTIONS.exporter, id, ...path];
        const target = byName.get(name);
        if (target?.connectors.includes(connector)) continue;
        if (target) this.report(place, `pipeline "${name}" does not list "${id}": add it to its receivers`);
        else if (!this.#config.has(['service', 'pipelines', name]))
          this.report(place, `there is no pipeline "${name}"${suggestion(name, [...byName.keys()])}`);
      }
      this.#checkEnds(connector, pipelines);
    }
    const { loop } = levelsOf(pipelines);
    const [first] = loop;
    if (first)
      this.report(
        ['service', 'pipelines', first.name, COMPONENT_SECTIONS.exporter],
        `these pipelines pass items on in a circle: ${[...loop, first].map(({ name }) => name).join(' → ')}`,
      );
  }

  #checkEnds(
    connector: ConfiguredComponent<FactoryOf<'exporter'>>,
    pipelines: readonly PlannedPipeline[],
  ): void {
    const { id, factory } = connector;
    const creates = factory.createdSignals !== undefined;
    for (const { name, signal, connectors, exporters } of pipelines) {
      const targets = targetsOf(connector, signal);
      const place = ['service', 'pipelines', name];
      if (exporters.includes(connector) && targets.length === 0 && !creates)
        this.report(
          [...place, COMPONENT_SECTIONS.exporter],
          `"${id}" has no pipelines for ${signal}: name one in exporters.${id}`,
        );
      if (!connectors.includes(connector)) continue;
      if (!targets.some((target) => target.name === name))
        this.report(
          [...place, COMPONENT_SECTIONS.receiver],
          `"${id}" does not send to this pipeline: add "${name}" to exporters.${id}`,
        );
      const needed = creates ? factory.signals : [signal];
      const isFed = pipelines.some(
        (other) => needed.includes(other.signal) && other.exporters.includes(connector),
      );
      if (!isFed)
        this.report(
          [...place, COMPONENT_SECTIONS.receiver],
          `"${id}" receives no ${needed.join(', ')}: list it under exporters in a pipeline for ${needed.join(' or ')}`,
        );
    }
  }

  /** Whether an id under receivers is an exporter that passes items on. A receiver of the same id takes precedence. */
  #isConnector(id: string): boolean {
    const { receiver, exporter } = this.#config.components;
    return !receiver.has(id) && exporter.get(id)?.factory.pipelines !== undefined;
  }

  extensions(): readonly ConfiguredComponent<FactoryOf<'extension'>>[] {
    return this.#resolve('extension', this.#config.service.extensions, ['service', 'extensions']).map(
      ({ component }) => component,
    );
  }

  /** A component that references an extension that does not run would fail at its start. */
  checkExtensionReferences(): void {
    const running = this.#config.service.extensions;
    for (const component of this.#used.values()) {
      if (!component.isValid) continue;
      for (const { id, path } of extensionReferences(component.config, component.factory.configSchema)) {
        if (running.includes(id)) continue;
        const isConfigured = this.#config.components.extension.has(id);
        this.report(
          [COMPONENT_SECTIONS[component.kind], component.id, ...path],
          isConfigured
            ? `extension "${id}" does not run; add it to service.extensions`
            : `there is no extension "${id}" in service.extensions${suggestion(id, running)}`,
        );
      }
    }
  }

  warnOfUnused(): void {
    for (const components of Object.values(this.#config.components))
      for (const component of components.values())
        if (!this.#used.has(keyOf(component.kind, component.id)))
          this.report(
            [COMPONENT_SECTIONS[component.kind], component.id],
            component.kind === 'extension'
              ? 'is not used: service.extensions does not list it'
              : 'is not used: no pipeline lists it',
            'warning',
          );
  }

  #checkOrder(
    path: readonly string[],
    ids: readonly string[],
    processors: readonly ConfiguredComponent<FactoryOf<'processor'>>[],
  ): void {
    processors.forEach(({ id, factory, config, isValid }, index) => {
      const types = (isValid && factory.notBehind?.(config)) || [];
      const wrong = processors.slice(0, index).find((before) => types.includes(before.factory.type));
      if (wrong !== undefined)
        this.report(
          [...path, String(ids.indexOf(id))],
          `"${id}" creates new batches, and "${wrong.id}" does not see them: list "${id}" before "${wrong.id}"`,
        );
    });
  }

  #references<K extends Exclude<Kind, 'extension'>>(
    kind: K,
    ids: readonly string[],
    path: readonly string[],
    signal: Signal | undefined,
  ): readonly ConfiguredComponent<FactoryOf<K>>[] {
    return this.#resolve(kind, ids, path).flatMap(({ component, path: place }) => {
      const factory: Factory = component.factory;
      const isSender = factory.kind === 'exporter' && path.at(-1) === COMPONENT_SECTIONS.receiver;
      const signals = (isSender && factory.createdSignals) || signalsOf(factory);
      if (signal === undefined || signals.includes(signal)) return [component];
      this.report(place, `${kind} "${component.id}" is not for ${signal}, only for ${signals.join(', ')}`);
      return [];
    });
  }

  #resolve<K extends Kind>(kind: K, ids: readonly string[], path: readonly string[]) {
    const known = this.#config.components[kind];
    return ids.flatMap((id, index) => {
      if (kind === 'receiver' && this.#isConnector(id)) return [];
      const place = [...path, String(index)];
      const component = known.get(id);
      if (component) this.#used.set(keyOf(kind, id), component);
      if (ids.indexOf(id) !== index) {
        this.report(place, `"${id}" is listed twice`);
        return [];
      }
      if (component) return [{ component, path: place }];
      // A declared but invalid component was already reported at its declaration.
      if (!this.#config.has([COMPONENT_SECTIONS[kind], id])) this.report(place, this.#unknown(kind, id));
      return [];
    });
  }

  #unknown(kind: Kind, id: string): string {
    const { components } = this.#config;
    const other = Object.entries(components).find(([otherKind, map]) => otherKind !== kind && map.has(id));
    const isType = this.#factories.types(kind).includes(parseComponentId(id)?.type ?? '');
    const hint = other
      ? `; "${id}" is a component of another kind (${other[0]})`
      : isType
        ? TO_BE_WRITTEN
        : suggestion(id, [...components[kind].keys()]);
    return `there is no ${kind} "${id}" under ${COMPONENT_SECTIONS[kind]}${hint}`;
  }
}

function keyOf(kind: Kind, id: string): string {
  return `${kind} ${id}`;
}

type Extension = ConfiguredComponent<FactoryOf<'extension'>>;

/**
 * Sorts each extension after those that it names, otherwise in the given order.
 *
 * @returns the order, or the ids of a cycle, starting and ending with the same id
 */
function orderExtensions(extensions: readonly Extension[]): {
  readonly extensions: readonly Extension[];
  readonly cycle: readonly string[];
} {
  const byId = new Map(extensions.map((extension) => [extension.id, extension]));
  const done = new Set<Extension>();
  const permit = (extension: Extension, above: readonly Extension[]): readonly string[] => {
    if (done.has(extension)) return [];
    const start = above.indexOf(extension);
    if (start >= 0) return [...above.slice(start), extension].map(({ id }) => id);
    const references = extension.isValid
      ? extensionReferences(extension.config, extension.factory.configSchema)
      : [];
    for (const { id } of references) {
      const needed = byId.get(id);
      const cycle = needed ? permit(needed, [...above, extension]) : [];
      if (cycle.length > 0) return cycle;
    }
    done.add(extension);
    return [];
  };
  for (const extension of extensions) {
    const cycle = permit(extension, []);
    if (cycle.length > 0) return { extensions, cycle };
  }
  return { extensions: [...done], cycle: [] };
}
