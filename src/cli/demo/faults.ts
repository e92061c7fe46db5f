import type { Model } from './models.js';
import type { Random } from './random.js';

/** What goes wrong at the other end of one call. */
export interface Fault {
  readonly message: string;
  /** How long the caller waited for it. */
  readonly ms: number;
  readonly isTimeout: boolean;
  /** HTTP status, where there was an answer. */
  readonly status?: number;
}

/** A step that failed for good; the spans around it are recorded as failed with its message, as an SDK does. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed';
  /** Trying again would not help. */
  readonly isPermanent: boolean;
  constructor(message: string, isPermanent = false) {
    super(message);
    this.isPermanent = isPermanent;
  }
}

/** The run used up its steps or its time; nothing more is tried. */
export class RunStopped extends Error {
  override readonly name = 'RunStopped';
  readonly isTimeout: boolean;
  constructor(message: string, isTimeout: boolean) {
    super(message);
    this.isTimeout = isTimeout;
  }
}

const LIMITED: Readonly<Record<Model['provider'], string>> = {
  anthropic: '429 rate_limit_error: This request would exceed the rate limit for your organization',
  openai: '429 Rate limit reached for requests. Please try again in {wait}s.',
  google: '429 RESOURCE_EXHAUSTED: Quota exceeded for generate_content requests per minute',
};
const OVERLOADED: Readonly<Record<Model['provider'], string>> = {
  anthropic: '529 overloaded_error: Overloaded',
  openai: '503 The server is currently overloaded. Please try again later.',
  google: '503 UNAVAILABLE: The model is overloaded. Please try again later.',
};

/** How a call to a model's provider fails. */
export function modelFault(random: Random, model: Model): Fault {
  const kind = random.unit();
  if (kind < 0.5) {
    const message = LIMITED[model.provider].replace('{wait}', String(random.integer(1, 20)));
    return { message, ms: random.integer(80, 400), isTimeout: false, status: 429 };
  }
  if (kind < 0.8) {
    const ms = random.integer(300, 2500);
    return {
      message: OVERLOADED[model.provider],
      ms,
      isTimeout: false,
      status: model.provider === 'anthropic' ? 529 : 503,
    };
  }
  const seconds = random.pick([20, 30, 60]);
  return { message: `Request timed out after ${seconds}.0 s`, ms: seconds * 1000, isTimeout: true };
}

/** What no second attempt cures: the agent's own mistakes. */
export const MODEL_DEFECTS: readonly string[] = [
  '400 invalid_request_error: prompt is too long: 214087 tokens > 200000 maximum',
  'Completion is not valid JSON: Unexpected end of JSON input',
  'The completion was stopped by the content filter',
  'Model called the unknown tool "submit_final_answer"',
  'Completion was cut off at max_tokens = 4096',
];

/** How a call to a service or a database fails. */
export function serviceFault(random: Random, target: string): Fault {
  const kind = random.unit();
  if (kind < 0.4) {
    return {
      message: `503 Service Unavailable (${target})`,
      ms: random.integer(20, 300),
      isTimeout: false,
      status: 503,
    };
  }
  if (kind < 0.6) {
    return { message: `connect ECONNRESET ${target}`, ms: random.integer(5, 80), isTimeout: false };
  }
  if (kind < 0.75) {
    return {
      message: `502 Bad Gateway (${target})`,
      ms: random.integer(40, 900),
      isTimeout: false,
      status: 502,
    };
  }
  const seconds = random.pick([5, 10]);
  return { message: `${target} did not answer within ${seconds} s`, ms: seconds * 1000, isTimeout: true };
}
