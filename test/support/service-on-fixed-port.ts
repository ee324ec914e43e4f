import { findFreePort } from './free-port.ts';
import { startService } from './service.ts';

/** A service at the address that it announces, as people run it. Its core is for what must be there before anybody calls. */
export async function startServiceOnFixedPort(env: Record<string, string> = {}) {
  const port = await findFreePort();
  const url = `http://localhost:${port}`;
  const service = await startService({ env: { PORT: String(port), PUBLIC_URL: url, ...env } });
  return { ...service, url, api: `${url}/v1` };
}
