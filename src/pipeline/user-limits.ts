import type { ServiceConfig } from '../config/file-schema.js';
import { sizeBytes } from '../config/size.js';
import { UserRates, type UserRatesSettings } from '../http/user-rates.js';
import type { BuildTools } from './build.js';

/** Default burst: the amount of two seconds. */
const BURST_SECONDS = 2;

/** The limits of users from `service.user_limits`. */
export function userRates(config: ServiceConfig['user_limits'], tools: BuildTools): UserRates {
  return new UserRates(ratesOf(config), tools);
}

export function ratesOf(config: ServiceConfig['user_limits']): UserRatesSettings {
  const { share, requests_per_second: requests, request_burst: requestBurst } = config;
  const bytes = sizeBytes(config.bytes_per_second);
  const byteBurst = config.byte_burst === undefined ? undefined : sizeBytes(config.byte_burst);
  const storedBytes = sizeBytes(config.stored_bytes);
  return { share, storedBytes, requests: limitOf(requests, requestBurst), bytes: limitOf(bytes, byteBurst) };
}

/** @returns undefined if 0 disables the limit */
function limitOf(perSecond: number, burst = BURST_SECONDS * perSecond) {
  return perSecond === 0 ? undefined : { perSecond, burst: Math.max(1, burst) };
}
