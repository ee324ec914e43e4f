import type { Binding } from './wire.ts';

export interface Exclusion {
  reason: string;
  /** Default: both. */
  bindings?: readonly Binding[];
}

const noDirectMessages =
  'A2A leaves it to the agent whether it answers with a message (3.1.1). Here every answer is a task.';
const partsOf03 =
  'It expects `file` and `fileUrl` of A2A 0.3. Parts of 1.0 have `raw` or `url`, with `filename`.';

/** The tests that fail here, with the reason: an error of the test, or a decision of ours that A2A allows. */
export const exclusions: Record<string, Exclusion> = {
  'CORE-SEND-003': { reason: noDirectMessages },
  'DM-FMT-002': { reason: noDirectMessages },
  'DM-FMT-003': { reason: noDirectMessages },
  'STREAM-MSG-001': { reason: noDirectMessages },
  'CORE-SEND-004': {
    reason: 'It has the media type in `metadata.contentType`. A part of A2A 1.0 has it in `mediaType`.',
  },
  'CORE-ERR-007': { reason: 'It expects an object. The details of an error are an array (9.5, 11.6).' },
  'CORE-HIST-005': {
    reason:
      'It expects only messages of the client in `history`. Here the questions of the agent are there, too.',
  },
  'CARD-DISC-002': { reason: 'It calls the binding `REST`. Its name is `HTTP+JSON` (5.8).' },
  'DM-ART-003': { reason: partsOf03 },
  'DM-ART-004': { reason: partsOf03 },
  'REST-PD-001': {
    reason: 'It expects problem details. Errors of HTTP+JSON are `google.rpc.Status` (11.6).',
  },
  'SEC-AUTH-006': {
    reason: 'It allows the status 200 for a card without a token, but then expects the body of an error.',
  },
  'VER-NEG-002': {
    reason: 'It expects 1.0 without a header. A request without `A2A-Version` is 0.3 (3.6.2).',
  },
};
