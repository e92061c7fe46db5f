import { Type } from 'typebox';
import type { HttpProblem } from '../../../component/http.js';
import { uuid } from '../../support/fields.js';
import { notFound } from '../../support/not-found.js';

export const ALERTS = '/api/v1/alerts';
export const ALERT = `${ALERTS}/{alert_id}`;

export const alertParams = Type.Object({ alert_id: uuid() });

export function noAlert(): HttpProblem {
  return notFound('alert');
}
