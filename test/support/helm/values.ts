import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';

const chart = join(import.meta.dirname, '../../../deploy/chart');

/** The schema of the values, as Helm reads it. */
export const valuesSchema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8'));

/** Returns a check of values against the schema of the chart. It returns one line for each mistake. */
export function createValuesCheck(): (values: unknown) => string[] {
  const validate = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(valuesSchema);
  return (values) =>
    validate(values)
      ? []
      : (validate.errors ?? []).map(
          ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
        );
}
