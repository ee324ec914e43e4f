import { z } from 'zod';
import { type A2aType, schemas } from './schemas.ts';

/** Throws with every fault if this is not the ProtoJSON of a message of A2A 1.0; see `schemas`. */
export function expectValidA2a(type: A2aType, json: unknown): void {
  const { error } = schemas[type].safeParse(json);
  if (!error) return;
  throw new Error(`no valid ${type}:\n${z.prettifyError(error)}\nin ${JSON.stringify(json, null, 2)}`);
}
