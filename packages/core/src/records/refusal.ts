import { z } from 'zod';
import { type DomainError, type ErrorCode, errorStatuses } from '../domain/errors.ts';

const errorCodes = Object.keys(errorStatuses) as [ErrorCode, ...ErrorCode[]];

/** The refusal of one part of a batch. */
export const refusalSchema = z
  .object({
    status: z.int().min(400).max(599).describe('The HTTP status that this part alone would get.'),
    retry_after: z.int().optional().describe('Seconds until a retry can succeed.'),
    error: z
      .object({
        code: z.enum(errorCodes).describe('Error code.'),
        message: z.string().describe('The reason, and what to do.'),
        details: z
          .array(
            z.object({
              field: z.string().describe('The field.'),
              message: z.string().describe('The reason.'),
              reason: z.string().optional().describe('A reason for programs.'),
            }),
          )
          .optional()
          .describe('Each field that is wrong.'),
      })
      .describe('The error, as in an error response. The request id is that of the batch.'),
  })
  .meta({ id: 'Refusal' })
  .describe('A part that was refused.');

export type Refusal = z.infer<typeof refusalSchema>;

/** Returns the refusal of one part of a batch. */
export function presentRefusal(refused: DomainError): Refusal {
  const { status, code, message, details, retry_after } = refused;
  return {
    status,
    ...(retry_after !== undefined && { retry_after }),
    error: { code, message, ...(details && { details }) },
  };
}
