import { createServer } from 'node:http';

// A server whose paths hold the event loop for the milliseconds that they name, in one piece (`holds`) or yielding (`yields`).
const server = createServer((request, response) => {
  const [, how, ms] = (request.url ?? '').split('/');
  const cpuMs = () => process.cpuUsage().user / 1_000;
  const end = cpuMs() + Number(ms);
  const work = () => {
    const until = how === 'yields' ? Math.min(end, cpuMs() + 1) : end;
    while (cpuMs() < until);
    if (cpuMs() < end) setTimeout(work, 1);
    else response.end();
  };
  work();
});
server.listen(0, '127.0.0.1', () => process.send?.(server.address().port));
