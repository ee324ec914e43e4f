import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { renderPythonOperations } from '../../../scripts/client/python-operations.ts';
import { missingPythonReason, pythonPackage, runPython } from '../../support/python.ts';
import { useSharedService } from '../../support/service.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';

const service = useSharedService();
/** The library has `attachments.upload` and `attachments.download` for them. */
const operationsWithFiles = new Set(['create_attachment', 'download_attachment']);

test('the operations are those of the service; otherwise run npm run generate', async () => {
  const { body } = await service.get(null, '/openapi.json');
  const committed = await readFile(join(pythonPackage, 'src/agent_messaging/_operations.py'), 'utf8');
  expect(committed).toBe(renderPythonOperations(body));
});

describeUnless(missingPythonReason, 'the generated methods', () => {
  test('call every operation, each with a method of its own', async () => {
    const { body } = await service.get(null, '/openapi.json');
    const methods = Object.values<Record<string, { operationId: string }>>(body.paths).flatMap(Object.values);
    const ids: string[] = methods.map(({ operationId }) => operationId);
    const called = await runPython(`
import inspect, json
from agent_messaging import Client

called = []
client = Client("http://localhost:1", "token")
client.call = lambda operation, *args, **options: called.append(operation) or {}
for noun in [value for name, value in vars(client).items() if name[0] != "_" and name != "call"]:
    for name, method in inspect.getmembers(noun, inspect.ismethod):
        if name.startswith("_") or name in ("upload", "download", "save", "wait", "work"):
            continue
        required = [p for p in inspect.signature(method).parameters.values() if p.default is p.empty]
        result = method(*("x" for _ in required))
        if hasattr(result, "pages"):
            next(result.pages())
print(json.dumps(called))
`);
    const expected = ids.filter((id) => !operationsWithFiles.has(id));
    expect(called.toSorted()).toEqual(expected.toSorted());
  });
});
