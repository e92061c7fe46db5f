import type { Static, TObject } from 'typebox';
import { SIGNALS, type Batches, type Signal } from '../signal/batch.js';
import type { Component } from './component.js';
import type { Kind } from './component-id.js';
import type { ConsumeContext, Consumer, Receipt, Refusal } from './consumer.js';
import type { TlsOptions } from './host.js';
import type { Placement, PlacementContext } from './intake.js';
import type { Clock, Logger, Meter, Tracer } from './telemetry.js';

/** As in the OpenTelemetry Collector: how stable a component is for users. */
export type Stability = 'development' | 'alpha' | 'beta' | 'stable';

/** Values that the engine passes to a component in addition to the user's configuration. */
export interface Settings<Config> {
  /** As written in the configuration: `otlp`, `storage/archive`. */
  readonly id: string;
  /** Of a processor, which is created for each pipeline that names it: the pipeline's name. */
  readonly pipeline?: string;
  /** Validated against the factory's schema, defaults filled in. */
  readonly config: Config;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly clock: Clock;
  /** Absent if the daemon does not trace itself. */
  readonly tracer?: Tracer | undefined;
}

/** Something outside the process that a component will need; `validate` finds two owners of the same one. */
export type Resource =
  | {
      readonly kind: 'http_listener' | 'grpc_listener';
      readonly endpoint: string;
      /** Handles no telemetry and checks no keys: it may listen on any address, also without authentication. */
      readonly isOperational?: true;
    }
  | { readonly kind: 'readable_file'; readonly path: string }
  | {
      readonly kind: 'writable_file';
      readonly path: string;
      /** The component locks it: no second process can use it. */
      readonly isExclusive?: true;
    }
  /** Certificate and key of a listener, both PEM; all components that want TLS on one listener must name the same. */
  | ({ readonly kind: 'tls_files'; readonly listener: string } & TlsOptions);

interface FactoryBase<K extends Kind, Schema extends TObject> {
  readonly kind: K;
  /** `lower_snake_case`; unique within its kind. */
  readonly type: string;
  /** One sentence for `jackdaw components` and the documentation. */
  readonly description: string;
  readonly stability: Stability;
  /** The component's section of the configuration: every key with a description, defaults only here. */
  readonly configSchema: Schema;
  /** Checks what the schema cannot express: one message per broken rule, each with the path of its key (`/tls/cert_file`). */
  check?(config: Static<Schema>): readonly { readonly path: string; readonly message: string }[];
  resources?(config: Static<Schema>): readonly Resource[];
  /** Values that must never be shown, in addition to those marked in the schema. */
  secrets?(config: Static<Schema>): readonly string[];
}

/** One consumer for every signal that a pipeline takes from the receiver. */
export type Outputs = { readonly [S in Signal]?: Consumer<Batches[S]> };

/** Where to load a plugin from. */
export interface PluginModule {
  /** Path or package, and the configuration file that names it. */
  readonly specifier: string;
  readonly file: string;
  /** Of the version of its files; empty for the first. */
  readonly stamp: string;
}

interface Placed<Schema extends TObject> {
  /** Set by the engine: where intake threads load the plugin of the factory from. */
  readonly module?: PluginModule;
  /**
   * Where its components may run; `main` by default. With `any`, each intake thread has a copy, created like the component on the main
   * thread and started with `startCopy`: it must not depend on what other copies have seen, and has no access to the host. Of plugins only
   * processors may have copies; these are not started.
   */
  placement?(config: Static<Schema>, context: PlacementContext): Placement;
}

/** Created once for each id, with one output for each signal it is wired for. */
export interface ReceiverFactory<Schema extends TObject = TObject>
  extends FactoryBase<'receiver', Schema>, Placed<Schema> {
  readonly signals: readonly Signal[];
  /** Whether its components are an `OwnTelemetryIntake`. */
  readonly takesOwnTelemetry?: boolean;
  create(settings: Settings<Static<Schema>> & { readonly outputs: Outputs }): Component;
}

/** Creates the processor of one pipeline of a signal. (Declared as a method, so that a factory of any schema is assignable.) */
export type CreateProcessor<Config, S extends Signal> = {
  create(
    settings: Settings<Config> & { readonly next: Consumer<Batches[S]> },
  ): Component & Consumer<Batches[S]>;
}['create'];

/** Created once for each pipeline that names it. */
export interface ProcessorFactory<Schema extends TObject = TObject>
  extends FactoryBase<'processor', Schema>, Placed<Schema> {
  /** Whether it changes the batches it receives. If not, a batch may be shared with other components. */
  readonly mutatesBatch: boolean;
  /** Types of processors that must not precede it: it creates new batches, which lose the notes of those processors. */
  notBehind?(config: Static<Schema>): readonly string[];
  /** How it is created for each signal that it takes. */
  readonly create: { readonly [S in Signal]?: CreateProcessor<Static<Schema>, S> };
}

/** An exporter: one consumer for each signal it takes. */
export interface Exporter extends Component {
  readonly inputs: Outputs;
}

/** Items of a batch for some pipelines. */
export interface Part {
  readonly pipelines: readonly string[];
  /** Positions in the batch, ascending. */
  readonly positions: readonly number[];
}

/**
 * Passes a batch on to pipelines, and answers as one pipeline does. An item is in one part at most; items in no part that are not
 * refused count as accepted.
 */
export type PassOn = <S extends Signal>(
  signal: S,
  batch: Batches[S],
  way: { readonly parts: readonly Part[]; readonly refused: readonly Refusal[] },
  context: ConsumeContext,
) => Promise<Receipt>;

/** Of a connector that was created outside pipelines. */
export const notConnected: PassOn = async () => Promise.reject(new Error('the connector is in no pipeline'));

/** A pipeline named in the configuration of a connector. */
export interface NamedPipeline {
  readonly name: string;
  /** Path of its key in the component's section. */
  readonly path: readonly string[];
}

/** Created once for each id. */
export interface ExporterFactory<Schema extends TObject = TObject>
  extends FactoryBase<'exporter', Schema>, Placed<Schema> {
  readonly signals: readonly Signal[];
  /**
   * `direct`: its receipt decides the answer to the sender. `queued`: the engine puts a bounded queue, retry and a
   * timeout around it, and it can neither delay nor fail the sender, save by a full queue in a pipeline without a direct
   * exporter. Its schema includes `deliveryKeys()`. Its `consume` is called again with the same batch after a failure
   * that may be retried, and should break off when the context's `abort` fires.
   */
  readonly delivery: 'direct' | 'queued';
  /** Whether a new component has to replace it when a mail server is added or removed; changes of its settings reach `reload`. */
  readonly needsSmtp?: boolean;
  /** Location of the values of `deliveryKeys()`, if it is not the configuration itself. */
  deliveryConfig?(config: Static<Schema>): Readonly<Record<string, unknown>>;
  /**
   * Makes it a connector: an exporter of some pipelines that passes their items on to the pipelines named here, which list it under
   * `receivers`. Not for plugins.
   */
  pipelines?(config: Static<Schema>): readonly NamedPipeline[];
  /** For a connector that sends items of its own: their signals, which differ from {@link signals}. */
  readonly createdSignals?: readonly Signal[];
  /** @param settings.passOn for connectors only */
  create(settings: Settings<Static<Schema>> & { readonly passOn?: PassOn }): Exporter;
}

/** Created once for each id named in `service.extensions`. `Host.extension` finds it by its capabilities. */
export interface ExtensionFactory<Schema extends TObject = TObject> extends FactoryBase<'extension', Schema> {
  /** For telemetry stores: the signals that they take as columns encoded in another thread (`EncodedWrites`). */
  readonly encodedSignals?: readonly Signal[];
  create(settings: Settings<Static<Schema>>): Component;
}

export type Factory = ReceiverFactory | ProcessorFactory | ExporterFactory | ExtensionFactory;

/** The signals a factory's components take part in; none for an extension. */
export function signalsOf(factory: Factory): readonly Signal[] {
  if (factory.kind === 'extension') return [];
  return factory.kind === 'processor' ? SIGNALS.filter((signal) => factory.create[signal]) : factory.signals;
}

/** The default export of a code plugin. */
export interface Plugin {
  readonly name: string;
  readonly apiVersion: 1;
  readonly factories: readonly Factory[];
}
