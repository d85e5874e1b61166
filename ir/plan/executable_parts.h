// An Executable together with the stages that it is made of.
#pragma once

#include "ir/plan/executable.h"
#include "ir/plan/launch_plan.h"
#include "ir/plan/memory_plan.h"
