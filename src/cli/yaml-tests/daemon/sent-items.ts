import { decodeProtobuf } from '../../../otlp/decode/protobuf.js';
import type { JsonObject, JsonValue } from '../../../signal/attributes.js';
import { TELEMETRY_SIGNALS, type Batches } from '../../../signal/batch.js';
import type { StillClock } from '../../../telemetry/still-clock.js';
import { otlpIntake } from '../otlp-intake.js';
import { shownItems } from '../shown-items.js';

const MOST_FIELDS = 1_000_000;

/**
 * What a request of OTLP in protobuf holds, by its signal: items as expressions know them, and as a gateway would read them.
 *
 * @param path of the request: `/v1/traces`
 * @throws OtlpDecodeError
 */
export async function sentItems(path: string, body: Uint8Array, clock: StillClock): Promise<JsonObject> {
  const signal = TELEMETRY_SIGNALS.find((one) => path.endsWith(`/v1/${one}`));
  if (signal === undefined) return {};
  const items: JsonValue[] = [];
  const output = {
    consume: (batch: Batches[typeof signal]) => {
      items.push(...shownItems(signal, batch));
      return Promise.resolve({ accepted: batch.items.length, refused: [] });
    },
  };
  await otlpIntake(clock, { [signal]: output }).take(
    signal,
    { decode: () => decodeProtobuf(signal, body, MOST_FIELDS) },
    { userId: '', keyId: null },
    { abort: new AbortController().signal },
  );
  return { [signal]: items };
}
