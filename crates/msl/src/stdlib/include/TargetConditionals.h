// <TargetConditionals.h>: none is set, as the target is no Apple system.
#pragma once
