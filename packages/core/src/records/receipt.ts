import { z } from 'zod';
import { agentRef } from './agent.ts';

/** Receipt record. */
export const receiptSchema = z
  .object({
    agent: agentRef.describe('The member.'),
    delivered_up_to_sequence: z
      .int()
      .min(0)
      .describe('Every message up to this sequence counts as delivered; never less than the read mark.'),
    read_up_to_sequence: z.int().min(0).describe('Every message up to this sequence is read.'),
    handled_up_to_sequence: z
      .int()
      .min(0)
      .describe(
        'Every message up to this sequence was acknowledged in the inbox of the member; 0 without an inbox.',
      ),
  })
  .meta({ id: 'Receipt' })
  .describe('Delivery and read marks of one member of a thread.');

export type ReceiptRecord = z.infer<typeof receiptSchema>;

export interface ReceiptColumns {
  id: string;
  canonical_handle: string;
  delivered_sequence: number;
  read_sequence: number;
  handled_sequence: number;
}

/** Returns the receipt of a member. */
export function presentReceipt(row: ReceiptColumns): ReceiptRecord {
  const { id, canonical_handle, delivered_sequence, read_sequence, handled_sequence } = row;
  return {
    agent: { id, canonical_handle },
    delivered_up_to_sequence: delivered_sequence,
    read_up_to_sequence: read_sequence,
    handled_up_to_sequence: handled_sequence,
  };
}
