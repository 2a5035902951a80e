import {
  describeAlarmWindows,
  describeBackend,
  describeRateLimiter,
  describeWakeups,
  type OpenBackend,
} from "@formbridge/conformance";
import {
  createLocalWakeups,
  createMemoryAlarmWindows,
  createMemoryBackend,
  createMemoryRateLimiter,
} from "@formbridge/store-memory";

const open: OpenBackend = async (now) => ({
  backend: createMemoryBackend({ now }),
  whyNot: "memory ends with its process",
  whyNoRefusal: "a map takes every row",
});

describeBackend(open);
describeRateLimiter((now) => createMemoryRateLimiter({ now }));
describeWakeups(createLocalWakeups);
describeAlarmWindows(() => {
  const windows = createMemoryAlarmWindows();
  return [windows, windows];
});
