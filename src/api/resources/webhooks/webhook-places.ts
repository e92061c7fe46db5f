import { Type } from 'typebox';
import type { HttpProblem } from '../../../component/http.js';
import { uuid } from '../../support/fields.js';
import { notFound } from '../../support/not-found.js';

export const WEBHOOKS = '/api/v1/org/{org_slug}/webhooks';
export const ENDPOINTS = `${WEBHOOKS}/endpoints`;
export const ENDPOINT = `${ENDPOINTS}/{endpoint_id}`;

export const organizationParams = Type.Object({
  org_slug: Type.String({ format: 'not-blank', description: 'The name of the organization in URLs.' }),
});

export const endpointParams = Type.Object({ ...organizationParams.properties, endpoint_id: uuid() });

export function noEndpoint(): HttpProblem {
  return notFound('webhook endpoint');
}
