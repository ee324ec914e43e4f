/** Runs one process of the service in this process, by the settings of its environment. It ends with a signal. */
export const runPart = {
  api: () => import('../main.ts'),
  worker: () => import('../../workers/main.ts'),
};
