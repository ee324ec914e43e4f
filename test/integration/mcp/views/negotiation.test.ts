import { expect, test } from 'vitest';
import { scopes } from '../../../../packages/core/src/domain/auth/scopes.ts';
import { connectSdkClient } from '../../../clients/mcp/client.ts';
import { connectViewClient, eras, listTools, readView } from '../../../clients/views/client.ts';
import { useSharedService } from '../../../support/service.ts';

const service = useSharedService();

const maxViewBytes = 40_000;
const maxListBytes = 44_000;

test.each(eras)('the list for clients with views names them, in the revision with %s', async (era) => {
  const { handle } = await service.agent();
  const token = await service.token(handle, { audience: 'mcp', scopes: [...scopes] });
  const ask = await connectViewClient(service.url, token, era);
  const list = await ask('tools/list');
  expect(Buffer.byteLength(JSON.stringify(list))).toBeLessThanOrEqual(maxListBytes);
  const tools = await listTools(ask);
  const views = [...tools].flatMap(([name, { ui }]) => (ui?.resourceUri ? [[name, ui.resourceUri]] : []));
  expect(Object.fromEntries(views)).toEqual({
    get_thread: 'ui://ams/conversation',
    ask: 'ui://ams/conversation',
    list_threads: 'ui://ams/inbox',
    send_message: 'ui://ams/approval',
    create_thread: 'ui://ams/approval',
    request_contact: 'ui://ams/approval',
    remove_contact: 'ui://ams/approval',
  });
  for (const [, uri] of views) {
    const { text, csp } = await readView(ask, String(uri));
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxViewBytes);
    expect(Object.values(csp).flat()).toEqual([]);
    expect(text).not.toMatch(/https?:\/\/(?!www\.w3\.org\/)/);
  }
  const { resources } = Object(await ask('resources/list'));
  expect(JSON.stringify(resources)).not.toContain('ui://');
  await expect(ask('resources/read', { uri: 'ui://ams/other' })).rejects.toThrow('not found');
});

test('a client without the extension gets the same tools and results, without a view', async () => {
  const { handle } = await service.agent();
  const token = await service.token(handle, { audience: 'mcp', scopes: [...scopes] });
  const { client, close } = await connectSdkClient(service.url, token);
  const { tools } = await client.listTools();
  expect(tools.filter(({ _meta }) => _meta !== undefined)).toEqual([]);
  const ask = await connectViewClient(service.url, token, 'sessions');
  const withViews = await listTools(ask);
  for (const tool of tools) {
    const { _meta, ui: _ui, ...same } = withViews.get(tool.name) ?? {};
    expect(same).toEqual(tool);
  }
  const call = { name: 'list_threads', arguments: {} };
  expect(await ask('tools/call', call)).toEqual(await client.callTool(call));
  for (const name of ['show_approvals', 'decide_approval']) {
    expect(withViews.get(name)?.ui).toEqual({ visibility: ['app'] });
    await expect(client.callTool({ name, arguments: {} })).rejects.toThrow(`Unknown tool: ${name}`);
  }
  await close();
});
