import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { QueueStats } from '../component/daemon-view.js';
import type { EdgeEnd, EdgePlace } from '../component/edge-listener.js';
import type { Consumer } from '../component/consumer.js';
import type { Rejections } from '../component/rejections.js';
import type { CreateProcessor, Exporter, Outputs } from '../component/factory.js';
import type { Clock, Logger, Meter, Tracer } from '../component/telemetry.js';
import type { ConfiguredComponent } from '../config/config.js';
import { ConfigError } from '../config/config-error.js';
import { COMPONENT_SECTIONS } from '../config/file-schema.js';
import { QueuedExporter } from '../delivery/queue/queued-exporter.js';
import { RAW_DECODERS } from '../otlp/map/decode-raw.js';
import { SIGNALS, type Batch, type Batches, type Signal } from '../signal/batch.js';
import { Edges } from './edges.js';
import { fanOut, type Branch } from './fanout.js';
import { nameOf, type Node } from './node.js';
import {
  edgeMetrics,
  Gate,
  instrument,
  metricsObserver,
  type EdgeMetrics,
  type EdgeObserver,
} from './instrument.js';
import { OfferedPrices } from './offered-prices.js';
import { passingOn } from './pass-on.js';
import { levelsOf, targetsOf, type Plan, type PlannedPipeline } from './plan.js';
import { RejectionsInMemory } from './rejections.js';
import { Switch } from './switch.js';

/** Tools passed to components of every kind. */
export interface BuildTools {
  readonly logger: Logger;
  readonly meter: Meter;
  readonly clock: Clock;
  /** Absent if the daemon does not trace itself. */
  readonly tracer?: Tracer | undefined;
}

/** A component with what a reload needs to keep or exchange it. */
export interface BuiltNode extends Node {
  readonly configured: ConfiguredComponent;
  /** The content of the files that its configuration names, as a hash. */
  readonly files: string;
  /** What it receives, by signal. */
  readonly inputs: ReadonlyMap<Signal, Switch>;
  /** What it sends, by signal: of receivers and processors. */
  readonly outputs: ReadonlyMap<Signal, Switch>;
  /** The pipelines that it passes items on to, by signal: of connectors. */
  readonly way?: Way | undefined;
  /** Replaces the component by a new one with the same configuration. */
  recreate(): void;
  /** Ends the gauges of the component: one that was never started, or whose stop failed, has not done so itself. */
  discard(): void;
}

interface Way {
  branchesOf: (signal: Signal) => Branches;
}

/** All components, created and connected but not started. */
export interface Built {
  /** In the order of their start. */
  readonly extensions: readonly BuiltNode[];
  readonly exporters: readonly BuiltNode[];
  /** One list for each pipeline, in the order in which data flows; pipelines that feed others come before them. */
  readonly processors: readonly (readonly BuiltNode[])[];
  /** The same lists by level: a pipeline receives from pipelines of earlier levels only. */
  readonly levels: readonly (readonly (readonly BuiltNode[])[])[];
  readonly receivers: readonly BuiltNode[];
  /** Of a build over a previous one: lets the kept components send to the new ones, all at once. */
  connect(): void;
  /** All batches from receivers pass through it. */
  readonly gate: Gate;
  readonly rejections: Rejections;
  readonly edges: Edges;
  readonly prices: OfferedPrices;
}

type AnyConsumer = Consumer<Batches[Signal]>;
/** Creates the edge from a component to the next one. Each component has its own, so that its throughput is counted. */
type WayFrom = (from: EdgeEnd) => AnyConsumer;
type PlannedExporter = PlannedPipeline['exporters'][number];
type Branches = ReadonlyMap<string, Branch<Batches[Signal]>>;
interface Connected {
  readonly branches: Branches;
  readonly mutates: boolean;
}
type ExporterNode = BuiltNode & { component: Exporter };

/** What runs, and the components of it to keep by their names. */
export interface Previous {
  readonly built: Built;
  readonly kept: ReadonlyMap<string, BuiltNode>;
}

/**
 * Creates the components in reverse order of the flow, so that each receives its outputs.
 *
 * @param previous is not changed before {@link Built.connect} of the result
 * @throws ConfigError if a factory refuses its configuration
 */
export function buildPipelines(
  plan: Plan,
  tools: BuildTools,
  observers: Observers = {},
  previous?: Previous,
): Built {
  return new Builder(plan, tools, observers, previous).build();
}

/** Of intake threads, which report to the main thread. */
interface Observers {
  /** Observes an edge, in place of the daemon's own figures. */
  readonly edge?: (place: EdgePlace) => EdgeObserver;
  readonly rejections?: Pick<Rejections, 'note'>;
}

class Builder {
  readonly #plan: Plan;
  readonly #tools: BuildTools;
  readonly #gate: Gate;
  readonly #rejections: Rejections;
  readonly #edges: Edges;
  readonly #observers: Observers;
  readonly #metrics: Readonly<Record<'receiver' | 'processor' | 'exporter', EdgeMetrics>>;
  readonly #exporters = new Map<string, ExporterNode>();
  #previous: Previous | undefined;
  readonly #connections: (() => void)[] = [];
  #created: BuiltNode[] = [];
  /** By connector and signal. */
  readonly #connected = new Map<string, Connected>();
  /** The entries of the pipelines created so far. */
  readonly #entries = new Map<string, (from: EdgeEnd) => Branch<Batches[Signal]>>();

  constructor(plan: Plan, tools: BuildTools, observers: Observers, previous?: Previous) {
    this.#observers = observers;
    this.#plan = plan;
    this.#tools = tools;
    this.#previous = previous;
    this.#gate = previous?.built.gate ?? new Gate();
    this.#rejections = previous?.built.rejections ?? new RejectionsInMemory(tools.clock);
    this.#edges = new Edges(plan.pipelines, tools.clock, previous?.built.edges);
    this.#metrics = {
      receiver: edgeMetrics(tools.meter, 'receiver'),
      processor: edgeMetrics(tools.meter, 'processor'),
      exporter: edgeMetrics(tools.meter, 'exporter'),
    };
  }

  build(): Built {
    try {
      return this.#build();
    } catch (error) {
      for (const node of this.#created) node.discard();
      throw error;
    } finally {
      // Nodes outlive this build: they must not keep replaced ones in memory.
      this.#previous = undefined;
      this.#created = [];
      this.#exporters.clear();
      this.#entries.clear();
    }
  }

  #build(): Built {
    const extensions = this.#plan.extensions.map((extension) =>
      this.#node(extension, { create: (settings) => extension.factory.create(settings) }),
    );
    const levels = levelsOf(this.#plan.pipelines)
      .levels.toReversed()
      .map((level) => level.map((pipeline) => this.#pipeline(pipeline)))
      .toReversed();
    if (this.#previous === undefined)
      this.#tools.meter.gauge(
        'receiver_in_flight_batches',
        { description: 'Batches from receivers in progress.' },
        () => this.#gate.inside,
      );
    const receivers = this.#receivers();
    return {
      extensions,
      exporters: [...this.#exporters.values()],
      processors: levels.flat(),
      levels,
      receivers,
      gate: this.#gate,
      rejections: this.#rejections,
      edges: this.#edges,
      prices: new OfferedPrices(this.#plan.pipelines),
      connect: () => {
        for (const connect of this.#connections.splice(0)) connect();
      },
    };
  }

  /** @returns the pipeline's processors */
  #pipeline(pipeline: PlannedPipeline): readonly BuiltNode[] {
    const { name, signal } = pipeline;
    for (const exporter of pipeline.exporters) this.#exporter(exporter);
    let next: WayFrom = (from) => this.#exporterWay(pipeline, from);
    const nodes: BuiltNode[] = [];
    for (const processor of pipeline.processors.toReversed()) {
      const { id } = processor;
      const behind = next({ kind: 'processor', id });
      const node = this.#node(processor, {
        pipeline: name,
        outputs: new Map([[signal, behind]]),
        create: (settings, outputs) =>
          createOf(processor, signal)({ ...settings, pipeline: name, next: outputs[signal] as AnyConsumer }),
        inputs: (component) => ({ [signal]: component }),
      });
      const metrics = metricsObserver(this.#metrics.processor, { processor: id, signal, pipeline: name });
      next = (from) => {
        const edge = this.#edge({ pipeline: name, from, to: { kind: 'processor', id } });
        return instrument(inputOf(node, signal), {
          signal,
          logger: node.logger,
          observers: [metrics, edge.observer],
          look: edge.look,
        });
      };
      nodes.unshift(node);
    }
    const mutatesBatch =
      pipeline.processors.some(({ factory }) => factory.mutatesBatch) ||
      pipeline.exporters.some((exporter) => this.#connectedTo(exporter, signal).mutates);
    this.#entries.set(name, (from) => ({ consumer: next(from), mutatesBatch }));
    return nodes;
  }

  /** The end of a pipeline: sends to all its exporters concurrently. If one of them is direct, no queue may refuse a batch. */
  #exporterWay({ name, exporters, signal }: PlannedPipeline, from: EdgeEnd): AnyConsumer {
    const hasDirect = exporters.some(({ factory }) => factory.delivery === 'direct');
    const way = fanOut(
      exporters.map((exporter) => ({
        consumer: this.#exporterInput(exporter, { signal, hasDirect, from, pipeline: name }),
        mutatesBatch: this.#connectedTo(exporter, signal).mutates,
      })),
    );
    if (hasDirect || exporters.length === 1) return way;
    const nodes = exporters.map((exporter) => this.#exporter(exporter));
    return {
      consume: async (batch, context) => {
        for (const { component } of nodes)
          if (component instanceof QueuedExporter) component.assertRoom(signal, batch);
        return way.consume(batch, context);
      },
    };
  }

  /** Created when the first pipeline uses it. */
  #exporter(exporter: PlannedExporter): ExporterNode {
    const known = this.#exporters.get(exporter.id);
    if (known) return known;
    const { factory } = exporter;
    // A kept connector goes on with the pipelines of this build once they are connected.
    const branchesOf = (signal: Signal): Branches => this.#connectedTo(exporter, signal).branches;
    const way = { branchesOf };
    const passOn = factory.pipelines && passingOn((signal) => way.branchesOf(signal));
    const node = this.#node<Exporter>(exporter, {
      create: (settings) => {
        const component = factory.create({ ...settings, ...(passOn && { passOn }) });
        if (factory.delivery === 'direct') return component;
        const config = factory.deliveryConfig?.(settings.config) ?? settings.config;
        return new QueuedExporter(component, { ...settings, config }, RAW_DECODERS);
      },
      inputs: ({ inputs }) => inputs,
      way: factory.pipelines && way,
    });
    this.#exporters.set(exporter.id, node);
    return node;
  }

  /** The pipelines that a connector feeds, which were created before those that feed it; none for other exporters. */
  #connectedTo(exporter: PlannedExporter, signal: Signal): Connected {
    const key = `${exporter.id} ${signal}`;
    let connected = this.#connected.get(key);
    if (connected === undefined) {
      const branches = new Map(
        targetsOf(exporter, signal).flatMap(({ name }) => {
          const branch = this.#entries.get(name)?.({ kind: 'receiver', id: exporter.id });
          return branch ? [[name, withOwnNames({ ...branch, name })] as const] : [];
        }),
      );
      connected = { branches, mutates: [...branches.values()].some(({ mutatesBatch }) => mutatesBatch) };
      this.#connected.set(key, connected);
    }
    return connected;
  }

  #exporterInput(
    exporter: PlannedExporter,
    place: {
      readonly signal: Signal;
      readonly hasDirect: boolean;
      readonly from: EdgeEnd;
      readonly pipeline: string;
    },
  ): AnyConsumer {
    const { signal, hasDirect, from, pipeline } = place;
    const node = this.#exporter(exporter);
    const { id, logger } = node;
    const input = node.inputs.get(signal);
    if (!input)
      throw refused(
        exporter,
        new Error(
          `it has no input for ${signal}: complete its configuration, or remove it from the pipeline`,
        ),
      );
    const queued = (): QueuedExporter | undefined =>
      node.component instanceof QueuedExporter ? node.component : undefined;
    const waiting = queued() && (() => queued()?.waiting(signal) ?? null);
    const edge = this.#edge({ pipeline, from, to: { kind: 'exporter', id } }, waiting);
    const metrics = metricsObserver(this.#metrics.exporter, { exporter: id, signal });
    const onFailure = hasDirect ? 'swallowErrors' : 'propagateErrors';
    return instrument<Batch<unknown>>(input, {
      signal,
      logger,
      observers: [metrics, edge.observer],
      look: edge.look,
      onFailure: queued()?.[onFailure](signal),
    });
  }

  #edge(place: EdgePlace, waiting?: () => QueueStats | null) {
    const { pipeline, from, to } = place;
    const meter = this.#edges.add(pipeline, from, to, waiting);
    return { observer: this.#observers.edge?.(place) ?? meter, look: meter.look };
  }

  #receivers(): readonly BuiltNode[] {
    const byId = new Map(
      this.#plan.pipelines.flatMap(({ receivers }) => receivers.map((receiver) => [receiver.id, receiver])),
    );
    return [...byId.values()].map((receiver) => {
      const logger = this.#loggerOf(receiver);
      const outputs = new Map<Signal, AnyConsumer>(
        SIGNALS.flatMap((signal) => {
          const wanted: string = signal;
          const branches = this.#plan.pipelines
            .filter((pipeline) => pipeline.signal === wanted && pipeline.receivers.includes(receiver))
            .flatMap(({ name }) => {
              const entry = this.#entries.get(name);
              return entry === undefined ? [] : { ...entry({ kind: 'receiver', id: receiver.id }), name };
            });
          if (branches.length === 0) return [];
          const output = instrument(fanOut(branches.length > 1 ? branches.map(withOwnNames) : branches), {
            signal,
            logger,
            observers: [metricsObserver(this.#metrics.receiver, { receiver: receiver.id, signal })],
            gate: this.#gate,
            // Events belong to organizations and have no external sender.
            rejections:
              signal === 'events'
                ? undefined
                : { receiver: receiver.id, to: this.#observers.rejections ?? this.#rejections },
          });
          return [[signal, output] as const];
        }),
      );
      return this.#node(receiver, {
        outputs,
        create: (settings, own) => receiver.factory.create({ ...settings, outputs: own }),
      });
    });
  }

  /** The kept node of the previous build, if there is one; it then gets its outputs from {@link Built.connect}. */
  #node<C extends Node['component']>(
    configured: ConfiguredComponent,
    { pipeline, outputs = new Map(), create, inputs = () => ({}), way }: Parts<C>,
  ): BuiltNode & { component: C } {
    const { kind, id, config } = configured;
    const place = { kind, id, ...(pipeline === undefined ? {} : { pipeline }) };
    const kept = this.#previous?.kept.get(nameOf(place));
    if (kept !== undefined) {
      for (const [signal, target] of outputs)
        this.#connections.push(() => kept.outputs.get(signal)?.connect(target));
      if (way !== undefined)
        this.#connections.push(() => {
          if (kept.way !== undefined) kept.way.branchesOf = way.branchesOf;
        });
      return kept as BuiltNode & { component: C };
    }
    const logger = this.#loggerOf(configured, pipeline);
    const switches = new Map([...outputs].map(([signal, target]) => [signal, new Switch(target)]));
    const tools = this.#tools;
    let gauges = scopedMeter(tools.meter);
    const created = (): C =>
      create({ ...tools, logger, id, config, meter: gauges.meter }, Object.fromEntries(switches));
    try {
      const component = created();
      const entries = new Map<Signal, Switch>();
      const connect = (to: C): void => {
        for (const [signal, input] of Object.entries(inputs(to)) as [Signal, AnyConsumer | undefined][]) {
          const known = entries.get(signal);
          if (input === undefined) continue;
          if (known === undefined) entries.set(signal, new Switch(input));
          else known.connect(input);
        }
      };
      connect(component);
      const node: BuiltNode & { component: C } = {
        ...place,
        ...{
          component,
          logger,
          configured,
          files: filesOf(configured),
          inputs: entries,
          outputs: switches,
          way,
        },
        recreate: () => {
          gauges.end();
          gauges = scopedMeter(tools.meter);
          node.component = created();
          connect(node.component);
        },
        discard: () => {
          gauges.end();
        },
      };
      this.#created.push(node);
      return node;
    } catch (error) {
      gauges.end();
      throw refused(configured, error, pipeline);
    }
  }

  #loggerOf({ kind, id }: ConfiguredComponent, pipeline?: string): Logger {
    return this.#tools.logger.child({ [kind]: id, ...(pipeline === undefined ? {} : { pipeline }) });
  }
}

/** What a component is created from. */
interface Parts<C> {
  readonly pipeline?: string;
  readonly outputs?: ReadonlyMap<Signal, AnyConsumer>;
  readonly create: (
    settings: BuildTools & { readonly id: string; readonly config: Record<string, unknown> },
    outputs: Outputs,
  ) => C;
  readonly inputs?: (component: C) => Outputs;
  readonly way?: Way | undefined;
}

/** A hash over the content of the files that a configuration names, such as a price table; a missing one counts as empty. */
export function filesOf({ factory, config }: ConfiguredComponent): string {
  const hash = createHash('sha256');
  for (const resource of factory.resources?.(config) ?? []) {
    if (resource.kind !== 'readable_file') continue;
    hash.update(`${resource.path}\n`);
    try {
      hash.update(readFileSync(resource.path));
    } catch {
      // The component reports it.
    }
  }
  return hash.digest('hex');
}

function inputOf(node: BuiltNode, signal: Signal): Switch {
  const input = node.inputs.get(signal);
  if (input === undefined) throw new Error(`${nameOf(node)} has no input for ${signal}`);
  return input;
}

/**
 * Adds the pipeline's name to batch ids, so that a store at the end of two pipelines does not take a batch of one for a repeat of
 * the other.
 */
function withOwnNames<B>({ consumer, name, mutatesBatch }: Branch<B> & { readonly name: string }): Branch<B> {
  return {
    mutatesBatch,
    consumer: {
      consume: (items, context) => {
        const { batch } = context;
        return consumer.consume(
          items,
          batch ? { ...context, batch: { id: `${name}/${batch.id}` } } : context,
        );
      },
    },
  };
}

/** The plan assigns only processors that support the pipeline's signal. */
function createOf(
  processor: PlannedPipeline['processors'][number],
  signal: Signal,
): CreateProcessor<Record<string, unknown>, Signal> {
  const create = processor.factory.create[signal];
  if (!create) throw refused(processor, new Error(`it cannot be created for ${signal}`));
  return create;
}

function refused(
  { kind, id, position }: ConfiguredComponent,
  cause: unknown,
  pipeline?: string,
): ConfigError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const name = nameOf({ kind, id, ...(pipeline === undefined ? {} : { pipeline }) });
  return new ConfigError(
    [
      {
        severity: 'error',
        position,
        path: [COMPONENT_SECTIONS[kind], id],
        message: `${name} cannot be created: ${reason}`,
      },
    ],
    { cause },
  );
}

/** A meter of one component, and a function that ends all gauges registered through it. */
function scopedMeter(meter: Meter): { readonly meter: Meter; readonly end: () => void } {
  const running = new Set<() => void>();
  return {
    meter: {
      counter: (name, options) => meter.counter(name, options),
      histogram: (name, options) => meter.histogram(name, options),
      observedCounter: (name, options, read) => {
        meter.observedCounter(name, options, read);
      },
      gauge: (name, options, read, labels) => {
        const end = meter.gauge(name, options, read, labels);
        running.add(end);
        return () => {
          running.delete(end);
          end();
        };
      },
    },
    end: () => {
      for (const end of running) end();
      running.clear();
    },
  };
}
